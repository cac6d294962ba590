;; The contract of the tests. `submit` takes a MsgGpuExecute as its argument, submits it and logs the job's id; `read` takes
;; an id, logs what gpu_result wrote and, when the job is complete, the bytes of its output. `put`, `take` and `drop` take a key of 4 bytes and
;; a value. The rest do what no contract should.
(module
  (import "pipectl" "gpu_submit" (func $submit (param i32 i32 i32) (result i32)))
  (import "pipectl" "gpu_result" (func $result (param i32 i32 i32) (result i32)))
  (import "pipectl" "cas_get" (func $get (param i32 i32 i32 i32) (result i64)))
  (import "pipectl" "log" (func $log (param i32 i32)))
  (import "pipectl" "row_get" (func $row_get (param i32 i32 i32 i32) (result i64)))
  (import "pipectl" "row_set" (func $row_set (param i32 i32 i32 i32) (result i32)))
  (import "pipectl" "row_drop" (func $row_drop (param i32 i32) (result i32)))
  (import "pipectl" "pay" (func $pay (param i32 i32 i64) (result i32)))
  (import "pipectl" "caller" (func $caller (param i32 i32) (result i32)))
  (import "pipectl" "paid" (func $paid (result i64)))
  (import "pipectl" "height" (func $height (result i64)))
  (memory (export "memory") 2 256)

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

  ;; Until it is refused, 10,000 times at most: minus the code. Its number is in the last byte of the message, so that no two are the same.
  (func (export "submit_many") (param $at i32) (param $n i32) (result i32)
    (local $i i32) (local $r i32)
    (loop $on
      (local.set $r (call $submit (local.get $at) (local.get $n) (i32.const 0)))
      (if (local.get $r) (then (return (i32.sub (i32.const 0) (local.get $r)))))
      (br_if $on (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 10000))))
    (i32.const 0))

  ;; 100 + status where the job is not complete.
  (func (export "read") (param $at i32) (param $n i32) (result i32)
    (local $status i32)
    (local $size i64)
    (local.set $status (call $result (local.get $at) (i32.const 1024) (i32.const 2000)))
    (if (i32.lt_s (local.get $status) (i32.const 0)) (then (return (i32.sub (i32.const 0) (local.get $status)))))
    (call $log (i32.const 1044) (i32.load (i32.const 1040)))
    (if (i32.ne (local.get $status) (i32.const 2))
      (then (return (i32.add (i32.const 100) (local.get $status)))))
    (local.set $size
      (call $get (i32.const 1044) (i32.load (i32.const 1040)) (i32.const 4096) (i32.const 60000)))
    (call $log (i32.const 4096) (i32.wrap_i64 (local.get $size)))
    (i32.const 0))

  ;; cas_get of the CID that is the argument.
  (func (export "bytes") (param $at i32) (param $n i32) (result i32)
    (local $size i64)
    (local.set $size (call $get (local.get $at) (local.get $n) (i32.const 4096) (i32.const 60000)))
    (if (i64.lt_s (local.get $size) (i64.const 0)) (then (return (i32.wrap_i64 (i64.sub (i64.const 0) (local.get $size))))))
    (call $log (i32.const 4096) (i32.wrap_i64 (local.get $size)))
    (i32.const 0))

  (func (export "put") (param $at i32) (param $n i32) (result i32)
    (i32.sub (i32.const 0) (call $row_set (local.get $at) (i32.const 4)
      (i32.add (local.get $at) (i32.const 4)) (i32.sub (local.get $n) (i32.const 4)))))
  (func (export "take") (param $at i32) (param $n i32) (result i32)
    (local $size i64)
    (local.set $size (call $row_get (local.get $at) (i32.const 4) (i32.const 0) (i32.const 4096)))
    (if (i64.lt_s (local.get $size) (i64.const 0)) (then (return (i32.wrap_i64 (i64.sub (i64.const 0) (local.get $size))))))
    (call $log (i32.const 0) (i32.wrap_i64 (local.get $size)))
    (i32.const 0))
  (func (export "drop") (param $at i32) (param $n i32) (result i32)
    (i32.sub (i32.const 0) (call $row_drop (local.get $at) (i32.const 4))))
  ;; Writes rows of 4096 bytes under one number after the other, without end.
  (func (export "spam") (param $at i32) (param $n i32) (result i32)
    (loop $on
      (i32.store (i32.const 8192) (i32.add (i32.load (i32.const 8192)) (i32.const 1)))
      (br_if $on (i32.eqz (call $row_set (i32.const 8192) (i32.const 4) (i32.const 0) (i32.const 4096)))))
    (i32.const 1))
  (func (export "put_and_trap") (param $at i32) (param $n i32) (result i32)
    (drop (call $row_set (local.get $at) (i32.const 4) (local.get $at) (local.get $n)))
    unreachable)

  ;; Who called, what came with it (8 bytes) and the height (8), as one text.
  (func (export "who") (param i32 i32) (result i32)
    (local $n i32)
    (local.set $n (call $caller (i32.const 0) (i32.const 64)))
    (i64.store (local.get $n) (call $paid))
    (i64.store (i32.add (local.get $n) (i32.const 8)) (call $height))
    (call $log (i32.const 0) (i32.add (local.get $n) (i32.const 16)))
    (i32.const 0))
  ;; 7 gas to the account that is the argument.
  (func (export "give") (param $at i32) (param $n i32) (result i32)
    (i32.sub (i32.const 0) (call $pay (local.get $at) (local.get $n) (i64.const 7))))

  (func (export "trap_after_submit") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    unreachable)

  (func (export "spin_after_submit") (param $at i32) (param $n i32) (result i32)
    (drop (call $take (local.get $at) (local.get $n)))
    (loop $on (br $on))
    (i32.const 0))
  (func (export "spin") (param i32 i32) (result i32)
    (loop $on (br $on))
    (i32.const 0))

  (func $deeper (param $n i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get $n) (i32.const 1))) (local.get $n)))
  (func (export "deep") (param i32 i32) (result i32)
    (call $deeper (i32.const 0)))
  ;; As deep as its argument is long, and back.
  (func $down (param $n i32) (result i32)
    (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
    (call $down (i32.sub (local.get $n) (i32.const 1))))
  (func (export "down") (param $at i32) (param $n i32) (result i32)
    (call $down (local.get $n)))

  (func (export "refuse") (param i32 i32) (result i32)
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
  (func (export "bad_row") (param i32 i32) (result i32)
    (call $row_set (i32.const 131070) (i32.const 3) (i32.const 0) (i32.const 1)))
  (func (export "bad_pay") (param i32 i32) (result i32)
    (call $pay (i32.const 131070) (i32.const 3) (i64.const 1)))
  (func (export "bad_caller") (param i32 i32) (result i32)
    (call $caller (i32.const 131070) (i32.const 3)))
  (func (export "bad_log") (param i32 i32) (result i32)
    (call $log (i32.const 131072) (i32.const 1))
    (i32.const 0))

  ;; 0 when a NaN of an operation has the canonical bits, whatever made it: 0/0, and a payload that goes through a sum.
  (func (export "nan") (param i32 i32) (result i32)
    (local $zero f32)
    (i32.or
      (i32.ne (i32.reinterpret_f32 (f32.div (local.get $zero) (local.get $zero))) (i32.const 0x7fc00000))
      (i32.or
        (i32.ne (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 (i32.const 0xffa12345)) (f32.const 1))) (i32.const 0x7fc00000))
        (i64.ne (i64.reinterpret_f64 (f64.mul (f64.reinterpret_i64 (i64.const 0xfff0000000000001)) (f64.const 2)))
          (i64.const 0x7ff8000000000000)))))

  ;; 254 pages more and no other: 0, and then what memory.grow says, plus 1.
  (func (export "grow") (param i32 i32) (result i32)
    (if (i32.ne (memory.grow (i32.const 254)) (i32.const 2)) (then (return (i32.const 1))))
    (i32.add (memory.grow (i32.const 1)) (i32.const 1)))
  ;; Every page of it is touched.
  (func (export "bomb") (param i32 i32) (result i32)
    (local $i i32)
    (drop (memory.grow (i32.const 254)))
    (loop $on
      (i32.store8 (local.get $i) (i32.const 1))
      (br_if $on (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4096))) (i32.const 16777216))))
    (i32.sub (i32.const 0) (i32.add (memory.grow (i32.const 1)) (i32.const 1))))
  (func (export "one_parameter") (param i32) (result i32) (i32.const 0)))
