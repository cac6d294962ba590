/* The table of verbs. Words here are what users read in help, man pages and completions. */
#include "app.h"
#include "verb_options.h"

static const pctl_verb verbs[] = {
	{"check", NULL, "FILE...", "every check of a pipeline, all errors at once",
	 "Without --device only what needs no device is checked. With --in sizes are known and "
	 "shapes, gas and limits are "
	 "checked as well. With --immutable gas schedules, numbers of codes, instructions and "
	 "interfaces, and the specs of ops in certs/ops.lock are compared with those of a "
	 "revision: "
	 "what was released may not change.",
	 pctl_options_check, 0, UINT32_MAX, pctl_verb_check, "pipectl check pipelines/*.cfg"},
	{"run", NULL, "FILE", "check a pipeline, then run it",
	 "Prints the CID of every output. A named backend never reads remembered results. A FILE "
	 "written as REPO@REV:PATH is read from that commit with its includes, shaders and data, "
	 "not "
	 "from the work tree; the same holds for check, plan and audit. --report makes a new "
	 "directory: index.html with stages, gas, decisions and evidence, run.json with what "
	 "--json "
	 "prints, gas.json with gas by job and line, and trace.json for Perfetto or Chrome's "
	 "tracing.",
	 pctl_options_run, 1, 1, pctl_verb_run,
	 "pipectl run rank.pipe.cfg --in edges=EDGES --set iterations=50 --out ranks=RANKS"},
	{"init", NULL, "[DIR]", "begin a pipeline: a file, its shader and sample data",
	 "The pipeline checks, plans and runs at once. Nothing that is there is overwritten.",
	 pctl_options_init, 0, 1, pctl_verb_init, "pipectl init my-pipeline"},
	{"fmt", NULL, "FILE...", "lay out pipeline, policy and configuration files",
	 "Two blanks a level, one setting a line, at most one empty line, comments where they "
	 "stand; what was on one line stays "
	 "there while it fits in 100 columns. What a file says never changes. `-` is standard "
	 "input, laid out on standard output.",
	 pctl_options_fmt, 1, UINT32_MAX, pctl_verb_fmt, "pipectl fmt --check pipelines/*.cfg"},
	{"sign", NULL, "FILE", "sign a pipeline with its includes and shaders",
	 "Writes FILE.sig with this home's key and prints the key. A policy with signed = "
	 "\"required\" "
	 "runs only pipelines signed by one of its signers.",
	 NULL, 1, 1, pctl_verb_sign, "pipectl sign rank.pipe.cfg"},
	{"plan", NULL, "FILE", "what would run where, memory and gas",
	 "Gas is the price of the work: what its kernels may compute and move at most, each kind "
	 "at the rate of the gas schedule in force. It is counted from the program and the sizes "
	 "of "
	 "the data before anything runs, so it is the same on every device and says nothing of "
	 "time; --gas-limit and gas_limit refuse work that costs more.",
	 pctl_options_plan, 1, 1, pctl_verb_plan,
	 "pipectl plan rank.pipe.cfg --in edges=EDGES --backend vulkan:0"},
	{"shader", "check", "FILE...", "check WGSL shaders and show their analysis", NULL,
	 pctl_options_shader_check, 1, UINT32_MAX, pctl_verb_shader_check,
	 "pipectl shader check kernel.wgsl --dispatch 64"},
	{"shader", "run", "FILE", "run a WGSL shader on buffers", NULL, pctl_options_shader_run, 1,
	 1, pctl_verb_shader_run,
	 "pipectl shader run kernel.wgsl --dispatch 64 --bind 0:0=DATA --read 0:0=RESULT"},
	{"shader", "tune", "FILE", "show where a shader's time goes",
	 "Runs the shader on the reference, with counters, and on a device: what every line did, "
	 "all invocations together; "
	 "what the dispatch took, and the share of it that moving the least bytes at the speed of "
	 "a copy would take; and "
	 "what the compiler could not do without. Counts are exact. Times are the device's own "
	 "where it has timestamps, and "
	 "the host's where not. Nothing is stored. With several values of an override, or of the "
	 "workgroup's size, every combination is timed in place "
	 "of that, and all must give the same bytes.",
	 pctl_options_shader_tune, 1, 1, pctl_verb_shader_tune,
	 "pipectl shader tune kernel.wgsl --dispatch 64 --bind 0:0=DATA --backend vulkan"},
	{"shader", "upload", "FILE", "put a shader into the registry of the chain",
	 "It obeys the rules of the consensus VM; the answer is its CID. A shader that is there "
	 "already is answered the same way, and nothing changes.",
	 pctl_options_shader_upload, 1, 1, pctl_verb_shader_upload,
	 "pipectl shader upload kernel.wgsl --sender ada --tag sort"},
	{"shader", "list", "", "shaders of the registry and aliases", NULL,
	 pctl_options_shader_list, 0, 0, pctl_verb_shader_list, "pipectl shader list --tag sort"},
	{"shader", "show", "CID|ALIAS", "the profile of a shader, and what its lines cost", NULL,
	 NULL, 1, 1, pctl_verb_shader_show, "pipectl shader show bafkreigh2akiscai"},
	{"shader", "alias", "NAME CID", "let a name point to a shader",
	 "The account that made a name first moves it; every move is recorded.",
	 pctl_options_sender, 2, 2, pctl_verb_shader_alias,
	 "pipectl shader alias sort bafkreigh2akiscai --sender ada"},
	{"shader", "deprecate", "CID", "let no new jobs use a shader", NULL, pctl_options_sender, 1,
	 1, pctl_verb_shader_deprecate, "pipectl shader deprecate bafkreigh2akiscai --sender ada"},
	{"job", "submit", "", "have the chain run a shader",
	 "With --pipeline FILE the shader jobs of a pipeline; --gas-limit is then that of each.",
	 pctl_options_job_submit, 0, 0, pctl_verb_job_submit,
	 "pipectl job submit --shader sort --input bafkreif7q3n6xk2 --dispatch 4 --gas-limit "
	 "1000000 "
	 "--output-bytes 1024 --sender ada"},
	{"job", "show", "JOB", "where a job stands and what it gave", NULL, NULL, 1, 1,
	 pctl_verb_job_show, "pipectl job show JOB"},
	{"job", "list", "", "jobs, newest first", NULL, pctl_options_job_list, 0, 0,
	 pctl_verb_job_list, "pipectl job list --sender ada --status pending"},
	{"job", "cancel", "JOB", "take a waiting job back", NULL, pctl_options_sender, 1, 1,
	 pctl_verb_job_cancel, "pipectl job cancel JOB --sender ada"},
	{"link", NULL, "CID CID", "draw a link from one CID to another, or take it back", NULL,
	 pctl_options_link, 2, 2, pctl_verb_link,
	 "pipectl link bafkreigh2akiscai bafkreif7q3n6xk2 --sender ada"},
	{"op", "list", "", "all ops of the loaded op libraries", NULL, pctl_options_op_list, 0, 0,
	 pctl_verb_op_list, "pipectl op list"},
	{"op", "show", "OP", "ports, attributes and definition of an op", NULL, NULL, 1, 1,
	 pctl_verb_op_show, "pipectl op show tensor.sort_pairs"},
	{"op", "run", "OP", "run one op on files", NULL, pctl_options_op_run, 1, 1,
	 pctl_verb_op_run,
	 "pipectl op run int.add --in a=A:u32[1024] --in b=B:u32[1024] --out y=SUM"},
	{"op", "support", "[OP]...", "which op takes which element type, as the ops answer",
	 "First the table of layers by types: Y where it works, else the code of the refusal. Then "
	 "every port of the ops, or of those "
	 "that match a pattern, as tensor.*; with -v why a type is refused.",
	 NULL, 0, UINT32_MAX, pctl_verb_op_support, "pipectl op support 'tensor.*'"},
	{"vm", "run", "FILE", "run a machine of the GPU VM on files",
	 "A machine is declared in a file: registers, heap, globals, and the kernels and ops of "
	 "its "
	 "program. It boots, is fed, runs its program as often as the file says, and is read; a "
	 "`vm` job of a pipeline does the same. Parts of the heap that name a file are fed with "
	 "it.",
	 pctl_options_vm_run, 1, 1, pctl_verb_vm_run,
	 "pipectl vm run chain.vm.cfg --in w=W --in r0=X --out r30=Y"},
	{"vm", "show", "FILE", "memory map, program and gas of a machine",
	 "What an execution is: one submission of how many dispatches, and its gas, by the gas "
	 "schedule in force.",
	 NULL, 1, 1, pctl_verb_vm_show, "pipectl vm show chain.vm.cfg"},
	{"vm", "generate", "", "tokens of a language model in a machine of the GPU VM",
	 "Each layer is an instance: its weights lie in the heap, its keys and values in the "
	 "globals, and a token is one submission. Logits are those of `generate` to the bit, "
	 "while the regulator observes and no layer is passed by. Told are norms of every layer "
	 "at the last token, and what the host makes of memory and clock.",
	 pctl_options_vm_generate, 0, 0, pctl_verb_vm_generate,
	 "pipectl vm generate --model model.gguf --prompt 'Once upon' --tokens 32"},
	{"cas", "put", "FILE...", "store files, print their CIDs", NULL, pctl_options_put, 1,
	 UINT32_MAX, pctl_verb_cas_put, "pipectl cas put DATA --pin"},
	{"cas", "get", "CID", "write a blob, verified", NULL, pctl_options_get, 1, 1,
	 pctl_verb_cas_get, "pipectl cas get bafkreigh2akiscai --out DATA"},
	{"cas", "ls", "", "all blobs with their sizes", NULL, pctl_options_ls, 0, 0,
	 pctl_verb_cas_ls, "pipectl cas ls --pins"},
	{"cas", "pin", "CID...", "keep blobs from gc", NULL, NULL, 1, UINT32_MAX, pctl_verb_cas_pin,
	 "pipectl cas pin bafkreigh2akiscai"},
	{"cas", "unpin", "CID...", "let gc have them again", NULL, NULL, 1, UINT32_MAX,
	 pctl_verb_cas_unpin, "pipectl cas unpin bafkreigh2akiscai"},
	{"cas", "gc", "", "remove what nothing names", NULL, pctl_options_gc, 0, 0,
	 pctl_verb_cas_gc, "pipectl cas gc --dry-run"},
	{"cas", "verify", "", "rehash every blob", NULL, NULL, 0, 0, pctl_verb_cas_verify,
	 "pipectl cas verify"},
	{"cas", "export", "CID...", "write blobs to a CAR file, which other tools of IPFS read",
	 "The same CIDs give the same bytes. The CIDs given are the archive's roots.",
	 pctl_options_export, 1, UINT32_MAX, pctl_verb_cas_export,
	 "pipectl cas export bafkreigh2akiscai --car blobs.car"},
	{"cas", "import", "", "read a CAR file into the store, print its roots",
	 "The whole file is verified first; of a file that is not right nothing is taken in.",
	 pctl_options_import, 0, 0, pctl_verb_cas_import, "pipectl cas import --car blobs.car"},
	{"tensor", "show", "FILE [NAME]", "the tensors of a file, or what one of them holds",
	 "Files are .npy, .npz, safetensors and GGUF, known by their first bytes.",
	 pctl_options_tensor_show, 1, 2, pctl_verb_tensor_show,
	 "pipectl tensor show model.gguf blk.0.attn_q.weight"},
	{"tensor", "convert", "IN OUT", "other element types, other files",
	 "The ending of OUT says what is written: .npy, .npz, .safetensors, any other: the bytes "
	 "of one tensor. Numbers are "
	 "rounded once, to the nearest, ties to even.",
	 pctl_options_tensor_convert, 2, 2, pctl_verb_tensor_convert,
	 "pipectl tensor convert weights.npz weights.safetensors --to bf16"},
	{"model", "show", "FILE|DIR", "what a language model is, and its tensors",
	 "A model is a GGUF file, or a folder with config.json beside model.safetensors or its "
	 "index. Shown are its description, parameters, bytes by type, what a token takes in the "
	 "cache, and for every tensor what it is for. An adapter is shown with its rank, its scale "
	 "and its CID.",
	 NULL, 1, 1, pctl_verb_model_show, "pipectl model show model.gguf"},
	{"model", "check", "FILE|DIR...", "check language models, all errors at once",
	 "What a family needs is there and has its shape, nothing else is there, every key that "
	 "changes what is computed is understood. With --full every element is read and every "
	 "tensor hashed. Adapters are checked alike, with --base against the model that they are "
	 "to be added to.",
	 pctl_options_model_check, 1, UINT32_MAX, pctl_verb_model_check,
	 "pipectl model check model.gguf --full"},
	{"model", "synth", "", "a model of a real shape with weights from a seed",
	 "The same seed gives the same model, in either format and on every machine. An OUT that "
	 "ends in .gguf is a file, any other a folder with config.json and safetensors. Sizes may "
	 "be changed one by one. With --lora an adapter for such a model is made, as GGUF or as "
	 "PEFT has it.",
	 pctl_options_model_synth, 0, 0, pctl_verb_model_synth,
	 "pipectl model synth --shape qwen2.5-0.5b --seed 1 --layers 2 --out model.gguf"},
	{"model", "convert", "IN OUT", "other types of weights, or the other format",
	 "Norms, biases and routers become f32. Weights become --type, where their rows are whole "
	 "blocks of it, else q8_0, else f16; without --type each keeps its own, and its bytes. An "
	 "OUT that ends in .gguf is a file, any other a folder.",
	 pctl_options_model_convert, 2, 2, pctl_verb_model_convert,
	 "pipectl model convert model model.gguf --type q4_k --tokenizer other.gguf"},
	{"model", "pipeline", "FILE|DIR", "a model as a pipeline",
	 "Written on standard output: jobs over the tensors of the model's files, by the path "
	 "that was given. Inputs are tokens u32[b,t], start u32[b], the position of each "
	 "sequence's first token, and count u32[b], how many of the t are real; the output is the "
	 "logits of each sequence's last real token. Layers are a group, keys and values state; "
	 "with --unrolled each layer is written out, and caches are inputs and outputs.",
	 pctl_options_model_pipeline, 1, 1, pctl_verb_model_pipeline,
	 "pipectl model pipeline model.gguf --batch 4 --chunk 64 --context 2048"},
	{"generate", NULL, "", "tokens of a language model behind a prompt",
	 "The same tokens on every device, for every chunk, batch and order of work: each is a "
	 "function of the model, the prompt and the sampling alone.",
	 pctl_options_generate, 0, 0, pctl_verb_generate,
	 "pipectl generate --model model.gguf --prompt 'Once upon' --tokens 32"},
	{"tokenizer", "encode", "FILE TEXT|-", "the tokens of a text",
	 "FILE is a tokenizer.json. `-` is standard input, all of it, as it is.",
	 pctl_options_tokenizer_encode, 2, 2, pctl_verb_tokenizer_encode,
	 "pipectl tokenizer encode tokenizer.json 'Hello world'"},
	{"tokenizer", "decode", "FILE ID...|-", "the text of tokens",
	 "Writes the bytes that the tokens stand for and nothing else. `-`: ids from standard "
	 "input.",
	 pctl_options_tokenizer_decode, 2, UINT32_MAX, pctl_verb_tokenizer_decode,
	 "pipectl tokenizer decode tokenizer.json 9906 1917"},
	{"tokenizer", "chat", "FILE", "the tokens of a conversation",
	 "Marks between messages are special tokens; what messages hold is text and never becomes "
	 "one.",
	 pctl_options_tokenizer_chat, 1, 1, pctl_verb_tokenizer_chat,
	 "pipectl tokenizer chat tokenizer.json --family qwen3 --message user=Hello"},
	{"tokenizer", "train", "FILE...", "learn a tokenizer from texts",
	 "The same texts in the same order give the same file everywhere.",
	 pctl_options_tokenizer_train, 1, UINT32_MAX, pctl_verb_tokenizer_train,
	 "pipectl tokenizer train --tokens 2000 --out tokenizer.json "
	 "/usr/share/common-licenses/GPL-3"},
	{"tokenizer", "show", "FILE [ID...]", "what a tokenizer is, and tokens of it", NULL,
	 pctl_options_tokenizer_show, 1, UINT32_MAX, pctl_verb_tokenizer_show,
	 "pipectl tokenizer show tokenizer.json 0 1 2"},
	{"plugin", "list", "", "all plugins found and whether they may be used", NULL, NULL, 0, 0,
	 pctl_verb_plugin_list, "pipectl plugin list"},
	{"plugin", "show", "PLUGIN", "everything known of a plugin", NULL, NULL, 1, 1,
	 pctl_verb_plugin_show, "pipectl plugin show vulkan"},
	{"plugin", "quarantine", "PLUGIN", "take a plugin out of use", NULL,
	 pctl_options_quarantine, 1, 1, pctl_verb_plugin_quarantine,
	 "pipectl plugin quarantine opencl --driver pocl --cause 'wrong sums'"},
	{"plugin", "release", "PLUGIN", "let a quarantined plugin be used again", NULL,
	 pctl_options_release, 1, 1, pctl_verb_plugin_release,
	 "pipectl plugin release opencl --driver pocl"},
	{"device", "list", "", "all devices of all backends", NULL, pctl_options_device, 0, 0,
	 pctl_verb_device_list, "pipectl device list"},
	{"device", "probe", "", "prove which float operations of a device are exact",
	 "Compares every native operation with IEEE 754, bit for bit, and keeps the signed result "
	 "as the device's "
	 "profile. Without --fresh a valid profile is shown as it is. Strict programs use nothing "
	 "else.",
	 pctl_options_probe, 0, 0, pctl_verb_device_probe,
	 "pipectl device probe --device vulkan:0 --forms"},
	{"device", "tune", "[DEVICE]...", "measure which ways to cut work are fastest on a device",
	 "Runs ops of models with each value of each tunable (workgroup sizes, tiles, splits), "
	 "which must all give "
	 "the same bytes, and keeps the fastest as the device's signed record; plans for that "
	 "device go by it from "
	 "then on. Results, CIDs and gas do not depend on it. Without a DEVICE: all that compute, "
	 "but for the "
	 "reference.",
	 pctl_options_tune, 0, UINT32_MAX, pctl_verb_device_tune, "pipectl device tune vulkan:0"},
	{"certify", NULL, "", "prove what a device does and sign a certificate",
	 "Runs units of proof block by block: parity with references, laws exhaustive on small "
	 "domains and witnessed on "
	 "large ones, engine invariants, compositions. Constant memory; --shard and --resume cut a "
	 "long proof, "
	 "`certify merge` joins it. A level says how much was proved of an operation: L1, it gives "
	 "the bytes of its reference on all small values, on those that devices go wrong at, and "
	 "on "
	 "random ones; L2, its laws hold besides; L3, so do the engine's invariants or the "
	 "reductions of tensors; L4, all of that, and compositions. An f or a behind the number "
	 "(L2f, L1a) names the track of floats, strict or approximate. A level is granted only "
	 "when all it needs ran and nothing was "
	 "skipped.",
	 pctl_options_certify, 0, 0, pctl_verb_certify,
	 "pipectl certify --backend vulkan:0 --level L2 --ops 'int.popcount@1' --out DIR"},
	{"certify", "merge", "DIR", "join the journals of all shards into one certificate", NULL,
	 pctl_options_merge, 1, 1, pctl_verb_certify_merge,
	 "pipectl certify merge DIR --out device.certificate.cfg"},
	{"certify", "verify", "FILE...",
	 "check signatures and everything a certificate says of itself", NULL, NULL, 1, UINT32_MAX,
	 pctl_verb_certify_verify, "pipectl certify verify device.certificate.cfg"},
	{"certify", "replay", "FILE", "run blocks of a certificate again, on any device", NULL,
	 pctl_options_replay, 1, 1, pctl_verb_certify_replay,
	 "pipectl certify replay device.certificate.cfg --sample 0.005 --backend vulkan:0"},
	{"certify", "confirm", "[FILE...]",
	 "try certificates of other files here, and sign what holds",
	 "A certificate that came with the installation, or was made before a file changed, is a "
	 "claim. A sample of its blocks, drawn anew every time, is run again on its device with "
	 "the "
	 "files that are here; when no digest differs a certificate of these files is signed. "
	 "Without FILE: all claims of devices that are here.",
	 pctl_options_confirm, 0, UINT32_MAX, pctl_verb_certify_confirm, "pipectl certify confirm"},
	{"certs", "list", "", "operations, devices and the levels they hold", NULL,
	 pctl_options_certs, 0, 0, pctl_verb_certs_list, "pipectl certs list"},
	{"certs", "show", "FILE|DEVICE", "all a certificate says", NULL, pctl_options_certs, 1, 1,
	 pctl_verb_certs_show, "pipectl certs show vulkan:0"},
	{"audit", NULL, "FILE", "run a pipeline on several devices and compare to the bit",
	 "Every output of every job is compared over devices and repeats. A difference is bisected "
	 "to job, round, kernel, "
	 "buffer, element and bits, a minimal reproduction is written, and who is outvoted is "
	 "quarantined.",
	 pctl_options_audit, 1, 1, pctl_verb_audit,
	 "pipectl audit rank.pipe.cfg --in edges=EDGES --backends cpu,vulkan:0 --report DIR"},
	{"audit", "verify", "DIR", "check the seal of a report and every file in it", NULL, NULL, 1,
	 1, pctl_verb_audit_verify, "pipectl audit verify DIR"},
	{"receipt", "show", "FILE", "what a receipt says", NULL, NULL, 1, 1, pctl_verb_receipt_show,
	 "pipectl receipt show RECEIPT"},
	{"receipt", "verify", "FILE...",
	 "check the signature of a receipt and that its trace is the one signed",
	 "Needs no device. Receipts of runs, of blocks and of single jobs of a block are known.",
	 pctl_options_receipt_verify, 1, UINT32_MAX, pctl_verb_receipt_verify,
	 "pipectl receipt verify RECEIPT --store"},
	{"receipt", "replay", "FILE", "run a receipt's pipeline again and compare its trace",
	 "Texts and inputs come from the store, by CID. Every line of the trace is compared.",
	 pctl_options_receipt_replay, 1, 1, pctl_verb_receipt_replay,
	 "pipectl receipt replay RECEIPT --backend cpu"},
	{"receipt", "dispute", "A B", "which of two receipts is wrong, and where",
	 "The first step in which they differ is run on the reference, from inputs that both "
	 "agree on; the job, round, step, buffer, element and bits are named. The signed report "
	 "goes into the store: `ledger verdict --evidence CID`.",
	 pctl_options_receipt_dispute, 2, 2, pctl_verb_receipt_dispute,
	 "pipectl receipt dispute OURS THEIRS"},
	{"receipt", "export", "JOB", "the receipt of one job of a block that was ended here",
	 "Its statement, the path to the block's root, and this node's signature.",
	 pctl_options_receipt_export, 1, 1, pctl_verb_receipt_export,
	 "pipectl receipt export JOB --out RECEIPT"},
	{"block", "end", "", "run the jobs of the open block and make it final",
	 "Takes jobs in the order of the queue while their gas fits the block's budget and runs "
	 "them "
	 "by their clocks. Whatever goes wrong, nothing has changed and it can be done again.",
	 pctl_options_block_end, 0, 0, pctl_verb_block_end, "pipectl block end --backend vulkan:0"},
	{"block", "list", "", "finished blocks", NULL, pctl_options_block_list, 0, 0,
	 pctl_verb_block_list, "pipectl block list --last 10"},
	{"block", "show", "[HEIGHT]", "a block with its jobs; the last one if left out", NULL, NULL,
	 0, 1, pctl_verb_block_show, "pipectl block show 1"},
	{"block", "verify", "HEIGHT[..HEIGHT]",
	 "run blocks again and compare every output, file and commit",
	 "The state before them is rebuilt from the history. With the last block the rows of this "
	 "node are compared too. A difference names block, job and byte, and with which side the "
	 "reference is.",
	 pctl_options_block_verify, 1, 1, pctl_verb_block_verify,
	 "pipectl block verify 1..3 --backend cpu"},
	{"block", "replay", "", "rebuild a chain in this home from a history",
	 "Takes the recorded messages in again, runs the jobs or, with --recorded, takes their "
	 "recorded results, and ends with the same commit, root and state, or says where not.",
	 pctl_options_block_replay, 0, 0, pctl_verb_block_replay,
	 "pipectl --home COPY block replay --from HOME/blocks.git --fetch HOME/cas"},
	{"rank", "show", "", "the rank of the graph after the last epoch, and how it was made",
	 "The parameter epoch_blocks says how often the graph is ranked. -v lists the jobs, the "
	 "last first.",
	 pctl_options_rank_show, 0, 0, pctl_verb_rank_show, "pipectl rank show --top 20"},
	{"key", "new", "NAME", "a key of an account, in this home",
	 "An Ed25519 key, encrypted with a passphrase. The account that it has of itself is "
	 "printed with "
	 "it; `ledger keys` and genesis.cfg give it others. What this home sends under the names "
	 "of such "
	 "accounts is signed with it, from version 2 of the rules on.",
	 pctl_options_key_new, 1, 1, pctl_verb_key_new,
	 "pipectl key new ada --passphrase secret.txt"},
	{"key", "list", "", "the keys of accounts in this home, and their accounts", NULL, NULL, 0,
	 0, pctl_verb_key_list, "pipectl key list"},
	{"key", "sign", "FILE", "add a signature to a message in a file",
	 "An encoded request of core/chain/messages/messages.proto with its field `auth`, and the "
	 "signatures of others or none; `ledger apply` takes it in.",
	 pctl_options_key_sign, 1, 1, pctl_verb_key_sign,
	 "pipectl key sign transfer.request --key ada --out transfer.signed"},
	{"ledger", "show", "[ACCOUNT]", "supply, treasury and accounts, or all of one account",
	 "Also checks that the supply is what balances, reserved gas, bonds, treasury and burned "
	 "gas add to.",
	 pctl_options_ledger_show, 0, 1, pctl_verb_ledger_show, "pipectl ledger show ada"},
	{"ledger", "credit", "ACCOUNT AMOUNT", "new supply for an account",
	 "From version 2 of the rules on by --sender, which has the role credit; else by anybody.",
	 pctl_options_ledger_credit, 2, 2, pctl_verb_ledger_credit,
	 "pipectl ledger credit ada 1_000_000_000"},
	{"ledger", "transfer", "FROM TO AMOUNT", "move from a balance to another", NULL, NULL, 3, 3,
	 pctl_verb_ledger_transfer, "pipectl ledger transfer ada bob 1000"},
	{"ledger", "bond", "ACCOUNT AMOUNT", "put a part of the balance up as bond", NULL, NULL, 2,
	 2, pctl_verb_ledger_bond, "pipectl ledger bond ada 500_000"},
	{"ledger", "unbond", "ACCOUNT AMOUNT", "take a part of the bond back", NULL, NULL, 2, 2,
	 pctl_verb_ledger_unbond, "pipectl ledger unbond ada 500_000"},
	{"ledger", "verdict", "", "say that an account gave wrong results",
	 "Under version 1 of the rules a vote of a bonded account (--accused, --evidence): with "
	 "the "
	 "one that brings the voters' bonds to the quorum, a part of the bond of the accused is "
	 "taken. From version 2 on a dispute (--job, --output): every node runs the job again on "
	 "the reference, and who was wrong pays, its executor or the sender.",
	 pctl_options_verdict, 0, 0, pctl_verb_ledger_verdict,
	 "pipectl ledger verdict --accused bob --evidence bafkreigh2akiscai --sender ada"},
	{"ledger", "accuse", "FILE", "bring a statement about a block that was not so",
	 "From version 2 of the rules on: a node signs for every block that ends there a statement "
	 "of its state root (HOME/chain/receipts/HEIGHT.statement). Where the block has another "
	 "root, the bond of the account that the signing key has of itself is slashed, whoever "
	 "ordered the block.",
	 pctl_options_ledger_accuse, 1, 1, pctl_verb_ledger_accuse,
	 "pipectl ledger accuse 7.statement --sender ada"},
	{"ledger", "keys", "ACCOUNT KEY...", "the keys that an account is controlled by",
	 "From version 2 of the rules on: from now on any --threshold of these keys, 64 hex digits "
	 "each, sign for the account, and no other; signed with those that it has now.",
	 pctl_options_ledger_keys, 2, UINT32_MAX, pctl_verb_ledger_keys,
	 "pipectl ledger keys ada "
	 "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"},
	{"ledger", "role", "ACCOUNT credit|block", "give an account a role, or take it away",
	 "From version 2 of the rules on: credit makes gas, block ends blocks over a node's "
	 "socket. "
	 "Who has a role gives and takes it.",
	 pctl_options_ledger_role, 2, 2, pctl_verb_ledger_role,
	 "pipectl ledger role bob credit --sender ada"},
	{"ledger", "apply", "FILE", "take in a message that somebody signed",
	 "An encoded request of core/chain/messages/messages.proto, such as `key sign` writes. "
	 "With "
	 "--order it waits in etcd until a node's block has it; the same one twice is one.",
	 pctl_options_ledger_apply, 1, 1, pctl_verb_ledger_apply,
	 "pipectl ledger apply transfer.signed"},
	{"ledger", "prove", "[TABLE KEY...]", "prove that a row is in the state, or that none is",
	 "From version 2 of the rules on, of the last finished block: TABLE is one of "
	 "core/chain/state/schema.def, and the words are its primary key. --check needs no chain: "
	 "the file and the id of a block that is trusted are enough; exit status 6 where it does "
	 "not hold.",
	 pctl_options_ledger_prove, 0, UINT32_MAX, pctl_verb_ledger_prove,
	 "pipectl ledger prove accounts ada --out ada.proof"},
	{"ledger", "verify", "", "hold every row of the state against the tree over them",
	 "From version 2 of the rules on. What a block reads is verified when it is read; this "
	 "goes over the rest. A row that is not the one the chain made is named; exit status 8.",
	 NULL, 0, 0, pctl_verb_ledger_verify, "pipectl ledger verify"},
	{"ledger", "snapshot", "write|restore DIR",
	 "the state of the last block as files, and a chain made of them",
	 "From version 2 of the rules on. `write DIR` puts record, rows in chunks and the bytes "
	 "that waiting jobs need into an "
	 "empty folder. `restore DIR --trust ID` makes the chain of an empty home of it and of the "
	 "id of that block alone: a "
	 "chunk that lies is named, and one that was taken in is not read again.",
	 pctl_options_ledger_snapshot, 2, 2, pctl_verb_ledger_snapshot,
	 "pipectl ledger snapshot write state"},
	{"ledger", "prune", "",
	 "remove the records of old blocks from the history, and what was signed of them",
	 "Keeps those of the last N blocks. Rows of the state and bytes of the store stay.",
	 pctl_options_ledger_prune, 0, 0, pctl_verb_ledger_prune,
	 "pipectl ledger prune --keep 1000"},
	{"ledger", "params", "list|show|propose|vote|apply|calibrate [ARGUMENT...]",
	 "the parameters of the consensus VM and changes of them",
	 "`list`; `show [NAME|PROPOSAL]`; `propose NAME=VALUE... --from ACCOUNT --at HEIGHT`; "
	 "`vote PROPOSAL yes|no --from ACCOUNT`; `apply PROPOSAL`. A change is applied when enough "
	 "bonds voted for it, and holds from its height on. `calibrate` measures the gas a "
	 "millisecond of each backend that the policy admits, or that is named, and says what "
	 "throughput and block budget would follow; it changes nothing.",
	 pctl_options_ledger_params, 1, UINT32_MAX, pctl_verb_ledger_params,
	 "pipectl ledger params show block_gas"},
	{"node", NULL, "", "serve the chain of this home over a socket",
	 "Frames of a length and a message of protocol buffers; core/chain/PROTOCOL.md is the "
	 "whole "
	 "protocol. With --engine abci a consensus engine decides the blocks, with --order the "
	 "nodes "
	 "cut them from what an etcd cluster ordered (core/chain/engine). "
	 "SIGTERM ends it in good order (exit status 0), and so does SIGINT (130).",
	 pctl_options_node, 0, 0, pctl_verb_node, "pipectl node --socket /run/pipectl/node.sock"},
	{"model", "serve", "", "serve a model to clients of this machine, over HTTP",
	 "OpenAI's calls: /v1/completions, /v1/chat/completions and /v1/embeddings by POST, "
	 "/v1/models and /health by GET, and nothing "
	 "else. It listens on a Unix socket of mode 0600, or on a port of 127.0.0.1 and ::1, and "
	 "nowhere else. Many clients share a "
	 "batch; an answer is a function of the request and the model alone, which "
	 "`system_fingerprint` names. A parameter that is not "
	 "supported is refused by name. `--log - --log-format json` tells of requests and, every "
	 "--metrics seconds, of what the server "
	 "does. The first SIGTERM or SIGINT takes nothing new and answers what runs, within "
	 "--drain (exit status 0 after SIGTERM, 130 after SIGINT); a second ends at once. "
	 "core/model/serve/README.md says what becomes of clients that are slow, rude or gone.",
	 pctl_options_model_serve, 0, 0, pctl_verb_model_serve,
	 "pipectl model serve --model model.gguf --socket /run/user/1000/model.sock"},
	{"contract", "upload", "FILE", "put a contract into the chain",
	 "FILE is a WebAssembly module or its text. The answer is the contract's CID, which is its "
	 "account too: it is called by it, and its jobs are sent and paid by it. "
	 "core/chain/contracts/contract.md is what it may ask for.",
	 pctl_options_contract_upload, 1, 1, pctl_verb_contract_upload,
	 "pipectl contract upload contract.wasm --sender ada"},
	{"contract", "call", "CID", "call a contract: all that it does counts, or nothing does",
	 "A message of the open block. Its fuel is paid however it ends; jobs that it submits run "
	 "with the block, and their results are there for calls in later blocks.",
	 pctl_options_contract_call, 1, 1, pctl_verb_contract_call,
	 "pipectl contract call bafkreigh2akiscai --sender ada --call start --fuel 10000000"},
	{"contract", "view", "CID", "ask a contract, changing nothing",
	 "Answered from the state as it is, and no message: nobody pays for it.",
	 pctl_options_contract_view, 1, 1, pctl_verb_contract_view,
	 "pipectl contract view bafkreigh2akiscai --call total"},
	{"contract", "list", "", "contracts of the chain", NULL, NULL, 0, 0,
	 pctl_verb_contract_list, "pipectl contract list"},
	{"contract", "show", "CID|CALL", "a contract and its calls, or one call", NULL, NULL, 1, 1,
	 pctl_verb_contract_show, "pipectl contract show bafkreigh2akiscai"},
	{"contract", "account", "FILE", "the account of a contract: its CID", NULL,
	 pctl_options_contract_account, 1, 1, pctl_verb_contract_account,
	 "pipectl contract account contract.wasm"},
	{"provenance", NULL, "CID|job:ID|account:NAME|alias:NAME",
	 "which jobs made something, from what, back to what was given",
	 "One line a job or input, what made it to the right of the arrow. With --verify every job "
	 "is "
	 "run again from the stored inputs, and its row is held against the graph.",
	 pctl_options_provenance, 1, 1, pctl_verb_provenance,
	 "pipectl provenance bafkreigh2akiscai --verify"},
	{"graph", "edges", "", "edges of the graph, a page at a time",
	 "All of them, or those from, to or via a name, of a job or of a block. An answer that is "
	 "not "
	 "the "
	 "last one ends with `next`.",
	 pctl_options_graph_edges, 0, 0, pctl_verb_graph_edges,
	 "pipectl graph edges --to bafkreigh2akiscai --kind input --kind link"},
	{"graph", "history", "CID|job:ID", "the jobs that led to something, the newest first",
	 "Each with what it took and who made that; the continuation is what is still to be "
	 "followed.",
	 pctl_options_graph, 1, 1, pctl_verb_graph_history,
	 "pipectl graph history bafkreigh2akiscai --height 12"},
	{"graph", "dependents", "CID|job:ID", "the jobs that took something, or what came of it",
	 "In the order of their clocks.", pctl_options_graph, 1, 1, pctl_verb_graph_dependents,
	 "pipectl graph dependents bafkreigh2akiscai --limit 20"},
	{"graph", "jobs", "[account:NAME|CID|job:ID]", "jobs by their clocks, as of a block",
	 "Of an account, of a shader, one, or all.", pctl_options_graph_jobs, 0, 1,
	 pctl_verb_graph_jobs, "pipectl graph jobs account:ada --clocks 3..17"},
	{"graph", "rank", "NAME", "links and inputs of a name, and the ranks at their ends",
	 "Of the latest epoch that was complete by then.", pctl_options_graph, 1, 1,
	 pctl_verb_graph_rank, "pipectl graph rank bafkreigh2akiscai"},
	{"doctor", NULL, "", "paths searched, values in force, what is usable and why not", NULL,
	 NULL, 0, 0, pctl_verb_doctor, "pipectl doctor"},
	{"explain", NULL, "CODE", "what a diagnostic code means", NULL, NULL, 0, 1,
	 pctl_verb_explain, "pipectl explain PC4102"},
	{"version", NULL, "", "version of the program", NULL, NULL, 0, 0, pctl_verb_version,
	 "pipectl version"},
	{"help", NULL, "[VERB [SUB-VERB]]", "this text, or the usage of a verb", NULL, NULL, 0, 2,
	 pctl_verb_help, "pipectl help cas put"},
	{"completion", NULL, "bash|zsh|fish", "a completion script", NULL, NULL, 1, 1,
	 pctl_verb_completion,
	 "pipectl completion bash >~/.local/share/bash-completion/completions/pipectl"},
	{"completion", "at", "WORD...", "what may stand in place of the last word",
	 "The words of a command line behind `--`, without the program's name; the last one is "
	 "being typed and may be empty. One "
	 "candidate a line, behind a tab what it is. The line `:files` or `:dirs`: a path. The "
	 "scripts ask this.",
	 NULL, 0, UINT32_MAX, pctl_verb_completion_at,
	 "pipectl completion at -- run rank.pipe.cfg --out ''"},
	{"man", NULL, "[VERB]", "the manual page in roff", NULL, NULL, 0, 1, pctl_verb_man,
	 "pipectl man run | man -l -"},
};

const pctl_verb *pctl_verbs(uint32_t *n_out)
{
	*n_out = (uint32_t)(sizeof(verbs) / sizeof(verbs[0]));
	return verbs;
}
