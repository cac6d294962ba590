" Made by tools/editor/grammar.c from the parser's tables; do not edit.
if exists("b:current_syntax")
  finish
endif
syn match pipectlName /[A-Za-z*][-A-Za-z0-9_*]*\ze\s*[:=]/
syn keyword pipectlBool true false
syn match pipectlKey /\<pipeline\>\ze\s*[:=]/
syn match pipectlKey /\<name\>\ze\s*[:=]/
syn match pipectlKey /\<about\>\ze\s*[:=]/
syn match pipectlKey /\<class\>\ze\s*[:=]/
syn match pipectlKey /\<gas_limit\>\ze\s*[:=]/
syn match pipectlKey /\<params\>\ze\s*[:=]/
syn match pipectlKey /\<inputs\>\ze\s*[:=]/
syn match pipectlKey /\<type\>\ze\s*[:=]/
syn match pipectlKey /\<file\>\ze\s*[:=]/
syn match pipectlKey /\<cid\>\ze\s*[:=]/
syn match pipectlKey /\<tensors\>\ze\s*[:=]/
syn match pipectlKey /\<types\>\ze\s*[:=]/
syn match pipectlKey /\<tensor\>\ze\s*[:=]/
syn match pipectlKey /\<state\>\ze\s*[:=]/
syn match pipectlKey /\<next\>\ze\s*[:=]/
syn match pipectlKey /\<count\>\ze\s*[:=]/
syn match pipectlKey /\<index\>\ze\s*[:=]/
syn match pipectlKey /\<jobs\>\ze\s*[:=]/
syn match pipectlKey /\<id\>\ze\s*[:=]/
syn match pipectlKey /\<op\>\ze\s*[:=]/
syn match pipectlKey /\<shader\>\ze\s*[:=]/
syn match pipectlKey /\<vm\>\ze\s*[:=]/
syn match pipectlKey /\<entry\>\ze\s*[:=]/
syn match pipectlKey /\<dispatch\>\ze\s*[:=]/
syn match pipectlKey /\<in\>\ze\s*[:=]/
syn match pipectlKey /\<out\>\ze\s*[:=]/
syn match pipectlKey /\<attr\>\ze\s*[:=]/
syn match pipectlKey /\<override\>\ze\s*[:=]/
syn match pipectlKey /\<repeat\>\ze\s*[:=]/
syn match pipectlKey /\<carry\>\ze\s*[:=]/
syn match pipectlKey /\<start\>\ze\s*[:=]/
syn match pipectlKey /\<after\>\ze\s*[:=]/
syn match pipectlKey /\<placement\>\ze\s*[:=]/
syn match pipectlKey /\<outputs\>\ze\s*[:=]/
syn match pipectlKey /\<policy\>\ze\s*[:=]/
syn match pipectlKey /\<inherits\>\ze\s*[:=]/
syn match pipectlKey /\<certificate\>\ze\s*[:=]/
syn match pipectlKey /\<ops\>\ze\s*[:=]/
syn match pipectlKey /\<level\>\ze\s*[:=]/
syn match pipectlKey /\<race\>\ze\s*[:=]/
syn match pipectlKey /\<race_cost\>\ze\s*[:=]/
syn match pipectlKey /\<max_turns\>\ze\s*[:=]/
syn match pipectlKey /\<verify\>\ze\s*[:=]/
syn match pipectlKey /\<quorum\>\ze\s*[:=]/
syn match pipectlKey /\<backends\>\ze\s*[:=]/
syn match pipectlKey /\<order\>\ze\s*[:=]/
syn match pipectlKey /\<allowed\>\ze\s*[:=]/
syn match pipectlKey /\<forbidden\>\ze\s*[:=]/
syn match pipectlKey /\<plugins\>\ze\s*[:=]/
syn match pipectlKey /\<sha256\>\ze\s*[:=]/
syn match pipectlKey /\<confinement\>\ze\s*[:=]/
syn match pipectlKey /\<namespaces\>\ze\s*[:=]/
syn match pipectlKey /\<isolation\>\ze\s*[:=]/
syn match pipectlKey /\<limits\>\ze\s*[:=]/
syn match pipectlKey /\<memory\>\ze\s*[:=]/
syn match pipectlKey /\<time\>\ze\s*[:=]/
syn match pipectlKey /\<worker\>\ze\s*[:=]/
syn match pipectlKey /\<memory_share\>\ze\s*[:=]/
syn match pipectlKey /\<tasks\>\ze\s*[:=]/
syn match pipectlKey /\<processes\>\ze\s*[:=]/
syn match pipectlKey /\<files\>\ze\s*[:=]/
syn match pipectlKey /\<folder\>\ze\s*[:=]/
syn match pipectlKey /\<folder_files\>\ze\s*[:=]/
syn match pipectlKey /\<program\>\ze\s*[:=]/
syn match pipectlKey /\<instructions\>\ze\s*[:=]/
syn match pipectlKey /\<largest\>\ze\s*[:=]/
syn match pipectlKey /\<calls\>\ze\s*[:=]/
syn match pipectlKey /\<nesting\>\ze\s*[:=]/
syn match pipectlKey /\<turns\>\ze\s*[:=]/
syn match pipectlKey /\<private\>\ze\s*[:=]/
syn match pipectlKey /\<function_memory\>\ze\s*[:=]/
syn match pipectlKey /\<array\>\ze\s*[:=]/
syn match pipectlKey /\<values\>\ze\s*[:=]/
syn match pipectlKey /\<expression\>\ze\s*[:=]/
syn match pipectlKey /\<workgroup\>\ze\s*[:=]/
syn match pipectlKey /\<tables\>\ze\s*[:=]/
syn match pipectlKey /\<memo\>\ze\s*[:=]/
syn match pipectlKey /\<memo_bytes\>\ze\s*[:=]/
syn match pipectlKey /\<deprecated\>\ze\s*[:=]/
syn match pipectlKey /\<dirty\>\ze\s*[:=]/
syn match pipectlKey /\<signed\>\ze\s*[:=]/
syn match pipectlKey /\<signers\>\ze\s*[:=]/
syn match pipectlKey /\<telemetry\>\ze\s*[:=]/
syn match pipectlNumber /[-+]\?\<\(0[xX]\x\+\|\d\+\(\.\d*\)\?\([eE][-+]\?\d\+\)\?\)L\{0,2}\>/
syn match pipectlInclude /@include/
syn region pipectlString start=/"/ skip=/\\./ end=/"/ contains=pipectlEscape,pipectlParameter,pipectlType,pipectlWord
syn match pipectlEscape /\\./ contained
syn match pipectlParameter /"\zs\$[A-Za-z_][-A-Za-z0-9_]*/ contained
syn match pipectlType /"\zs\(bool\|i32\|u32\|i64\|u64\|f16\|f32\|bf16\|f64\|i8\|u8\|i16\|u16\|u128\|bytes\|f8e4m3\|f8e5m2\|f4\|i4\|u4\|i2\|u2\|ternary\|binary\|q4_0\|q4_1\|q5_0\|q5_1\|q8_0\|q2_k\|q3_k\|q4_k\|q5_k\|q6_k\)\ze["|[]/ contained
syn match pipectlWord /"\zs\(integer\|strict\|approximate\|none\|L1\|L2\|L3\|L4\|proven\|checked\|trusted\|required\|available\|worker\|in-process\|off\|verified\|any\|refuse\|warn\|allow\|local\)\ze"/ contained
syn match pipectlComment /\(\/\/\|#\).*$/
syn region pipectlComment start=/\/\*/ end=/\*\//
hi def link pipectlKey Keyword
hi def link pipectlName Identifier
hi def link pipectlBool Boolean
hi def link pipectlNumber Number
hi def link pipectlInclude Include
hi def link pipectlString String
hi def link pipectlEscape SpecialChar
hi def link pipectlParameter Special
hi def link pipectlType Type
hi def link pipectlWord Constant
hi def link pipectlComment Comment
let b:current_syntax = "pipectl"
