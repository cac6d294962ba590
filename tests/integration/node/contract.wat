;; The contract of the tests. `submit` takes a MsgGpuExecute as its argument, submits it and logs the job's id; `read` takes
;; an id, logs what gpu_result wrote and, when the job is complete, the bytes of its output. The rest do what no contract
;; should.
(module
  (import "pipectl" "gpu_submit" (func $submit (param i32 i32 i32) (result i32)))
  (import "pipectl" "gpu_result" (func $result (param i32 i32 i32) (result i32)))
  (import "pipectl" "cas_get" (func $get (param i32 i32 i32 i32) (result i64)))
  (import "pipectl" "log" (func $log (param i32 i32)))
  (memory (export "memory") 2 2)

  ;; The argument lies at 65536; 0 to 65535 are for what comes back.
  (func (export "alloc") (param $n i32) (result i32)
    (if (i32.gt_u (local.get $n) (i32.const 65536)) (then (return (i32.const -1))))
    (i32.const 65536))

  (func $take (param $at i32) (param $n i32) (result i32)
    (local $r i32)
    (local.set $r (call $submit (local.get $at) (local.get $n) (i32.const 0)))
    (if (i32.eqz (local.get $r)) (then (call $log (i32.const 0) (i32.const 64))))
    (local.get $r))

  (func (export "submit") (param $at i32) (param $n i32) (result i32)
    (call $take (local.get $at) (local.get $n)))

  ;; The code of a refusal is what it returns.
  (func (export "refused") (param $at i32) (param $n i32) (result i32)
    (i32.sub (i32.const 0) (call $take (local.get $at) (local.get $n))))

  (func (export "submit_twice") (param $at i32) (param $n i32) (result i32)
    (i32.or (call $take (local.get $at) (local.get $n)) (call $take (local.get $at) (local.get $n))))

  ;; 100 + status where the job is not complete.
  (func (export "read") (param $at i32) (param $n i32) (result i32)
    (local $status i32)
    (local $size i64)
    (local.set $status (call $result (local.get $at) (i32.const 1024) (i32.const 2000)))
    (if (i32.lt_s (local.get $status) (i32.const 0)) (then (return (local.get $status))))
    (call $log (i32.const 1044) (i32.load (i32.const 1040)))
    (if (i32.ne (local.get $status) (i32.const 2))
      (then (return (i32.add (i32.const 100) (local.get $status)))))
    (local.set $size
      (call $get (i32.const 1044) (i32.load (i32.const 1040)) (i32.const 4096) (i32.const 60000)))
    (call $log (i32.const 4096) (i32.wrap_i64 (local.get $size)))
    (i32.const 0))

  (func (export "trap_after_submit") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    unreachable)

  (func (export "spin_after_submit") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    (loop $on (br $on))
    (i32.const 0))

  (func $deeper (param $n i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get $n) (i32.const 1))) (local.get $n)))
  (func (export "deep") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    (call $deeper (i32.const 0)))

  (func (export "refuse") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    (i32.const 17))

  ;; Pointers that leave memory, at its end and by wrapping around 32 bits.
  (func (export "bad_message") (param i32 i32) (result i32)
    (call $submit (i32.const 131070) (i32.const 3) (i32.const 0)))
  (func (export "bad_out") (param $at i32) (param $n i32) (result i32)
    (call $submit (local.get $at) (local.get $n) (i32.const 131001)))
  (func (export "bad_wrap") (param i32 i32) (result i32)
    (call $result (i32.const 0) (i32.const -16) (i32.const 32)))
  (func (export "bad_get") (param i32 i32) (result i32)
    (i32.wrap_i64 (call $get (i32.const 0) (i32.const 59) (i32.const 1) (i32.const -1))))
  (func (export "bad_log") (param i32 i32) (result i32)
    (call $log (i32.const 131072) (i32.const 1))
    (i32.const 0))

  ;; 0 when a NaN of an operation has the canonical bits, whatever made it.
  (func (export "nan") (param i32 i32) (result i32)
    (local $zero f32)
    (i32.ne
      (i32.and (i32.reinterpret_f32 (f32.div (local.get $zero) (local.get $zero))) (i32.const -1))
      (i32.const 0x7fc00000)))

  (func (export "grow") (param i32 i32) (result i32)
    (i32.add (memory.grow (i32.const 1)) (i32.const 1)))
  (func (export "one_parameter") (param i32) (result i32) (i32.const 0)))
