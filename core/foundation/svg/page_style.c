/* The style sheet of pages. Every colour is one of two fixed sets, for light and for dark; text keeps a contrast of at
 * least 4.5 to what it stands on, and whatever a colour says stands beside it as a letter or a word. */
#include "foundation/svg/page.h"

const char *const pctl_html_style[] = {
	":root{color-scheme:light dark;--bg:#f7f7f5;--card:#ffffff;--fg:#1a1c1e;--muted:#565c64;"
	"--line:#d6d9dd;--soft:#eef0f2;--good:#0b6e4f;--bad:#b3261e;--warn:#8a5300;--blue:#1f5fa8;"
	"--same:#0b6e4f;--drift:#c25a00;--far:#6b3fa0;--native:#1f5fa8;--flip:#b3261e;--fliptext:#"
	"ffffff}"
	"\n",
	"@media "
	"(prefers-color-scheme:dark){:root{--bg:#121518;--card:#1b1f23;--fg:#e8eaed;--muted:#"
	"a9b0b8;"
	"--line:#363c43;--soft:#252a30;--good:#4bd1a0;--bad:#ff9389;--warn:#f0b35e;--blue:#82b6f2;"
	"--same:#4bd1a0;--drift:#ffa95c;--far:#c9a0f5;--native:#82b6f2;--flip:#ff9389;--fliptext:#"
	"121518}"
	"}\n",
	"*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}body{margin:0;background:var(--"
	"bg);"
	"color:var(--fg);font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto "
	"Sans\",sans-serif}"
	"main{max-width:1080px;margin:0 auto;padding:20px 16px 60px}\n",
	"h1{font-size:1.75rem;line-height:1.25;margin:.2em 0 "
	".4em}h2{font-size:1.25rem;margin:2.2em "
	"0 .3em;padding-top:.4em;border-top:1px solid "
	"var(--line)}h3{font-size:1.02rem;margin:1.2em "
	"0 .4em}p{margin:.4em 0 .8em}.about,.muted{color:var(--muted)}.small{font-size:.86rem}"
	"\n",
	"code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans "
	"Mono\",monospace;"
	"font-size:.88em;overflow-wrap:anywhere}pre{background:var(--soft);border-radius:6px;"
	"padding:10px "
	"12px;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}a{color:var(--blue)}"
	"\n",
	".verdict{background:var(--card);border:1px solid var(--line);border-left:8px solid "
	"var(--good);"
	"border-radius:8px;padding:16px "
	"20px}.verdict.bad{border-left-color:var(--bad)}.verdict.warn{"
	"border-left-color:var(--warn)}.mark-word{font-weight:700;letter-spacing:.04em;font-size:."
	"86rem;"
	"text-transform:uppercase;color:var(--good)}.bad .mark-word{color:var(--bad)}.warn "
	".mark-word{"
	"color:var(--warn)}\n",
	".facts{display:flex;flex-wrap:wrap;gap:6px 28px;margin:12px 0 0;padding:0}.facts div{"
	"min-width:0}.facts dt{color:var(--muted);font-size:.8rem}.facts "
	"dd{margin:0;font-weight:600}"
	"\n",
	".card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px "
	"18px;margin:14px 0;break-inside:avoid}.card.bad{border-left:6px solid var(--bad)}\n",
	".scroll{overflow-x:auto}table{border-collapse:collapse;background:var(--card);width:100%;"
	"font-size:.92rem}th,td{border:1px solid var(--line);padding:7px 10px;text-align:left;"
	"vertical-align:top}thead "
	"th{background:var(--soft)}td.num{text-align:right;white-space:nowrap}"
	"tbody th{min-width:130px}th "
	".small{font-weight:400}caption{text-align:left;color:var(--muted);"
	"padding:4px 0}\n",
	".tag{display:inline-block;border-radius:5px;padding:1px 7px;color:#fff;white-space:nowrap;"
	"font-size:.88em;border:1px solid transparent}.tag "
	"b{margin-right:5px}.dot{display:inline-block;"
	"min-width:15px;text-align:center;border-radius:4px;font-size:.68rem;line-height:15px;"
	"color:#fff;margin:3px 2px 0 0;font-style:normal;font-weight:700}\n",
	".g0{background:#0b6e4f}.g1{background:#b3261e}.g2{background:#6b3fa0}.g3{background:#"
	"8a5300}"
	".g4{background:#1f5fa8}.g5{background:#8c2f6b}.g6{background:#3a6b1f}.g7{background:#"
	"555b63}"
	".gx{background:#555b63}\n",
	".form-native{background:#0b6e4f}.form-guarded{background:#1f5fa8}.form-f64{background:#"
	"8a5300}"
	".form-int{background:#6b3fa0}.form-none{background:#b3261e}\n",
	".contrast{display:grid;grid-template-columns:1fr 1fr;gap:14px;margin:14px "
	"0}.side{background:var(--card);"
	"border:1px solid var(--line);border-top:8px solid "
	"var(--good);border-radius:8px;padding:14px "
	"18px}.side.native{border-top-color:var(--drift)}.big{font-size:2.6rem;font-weight:750;"
	"line-height:1.1;color:var(--good)}.native .big{color:var(--drift)}.side p{margin:.2em "
	"0 .6em}.side table{font-size:.88rem}@media "
	"(max-width:680px){.contrast{grid-template-columns:1fr}"
	"h1{font-size:1.35rem}main{padding:12px 10px 40px}}\n",
	".path{display:flex;flex-wrap:wrap;list-style:none;gap:6px;margin:.4em 0 1em;padding:0}"
	".path li{background:var(--soft);border-radius:6px;padding:3px 10px}.path "
	"li+li{margin-left:16px;"
	"position:relative}.path li+li:before{content:\"\\2192\";position:absolute;left:-18px;"
	"top:30%;color:var(--muted)}.path span{color:var(--muted);font-size:.78rem;display:block}"
	"\n",
	".outcome{font-weight:700}.outcome.agrees{color:var(--good)}.outcome.differs,.outcome."
	"reproducible,.outcome.failed{"
	"color:var(--bad)}.outcome.undecided{color:var(--warn)}.weak{color:var(--warn);font-weight:"
	"700}"
	"\n",
	".plot{overflow-x:auto;margin:6px "
	"0}svg{display:block;width:100%;height:auto;font-family:system-ui,sans-serif}"
	"svg.bars{min-width:430px}svg.histogram{min-width:330px}svg.strip{min-width:520px}svg."
	"strip "
	"rect{shape-rendering:crispEdges}svg.bits{min-width:500px}svg.mini{max-width:120px;min-"
	"width:90px}"
	"\n",
	"svg text{fill:var(--fg);font-size:12px}svg text.axis{fill:var(--muted);font-size:11px}"
	"svg text.value{font-size:11px}svg "
	"text.digit{font-family:ui-monospace,monospace;font-size:12px}"
	"svg text.flipped{fill:var(--fliptext);font-weight:700}svg "
	".grid{stroke:var(--line);stroke-width:1}"
	"svg .frame{fill:var(--soft);stroke:var(--line)}\n",
	"svg .same{fill:var(--same)}svg .drift{fill:var(--drift)}svg .far{fill:var(--far)}svg "
	".time{fill:var(--blue)}svg .strict{fill:var(--same)}svg .native{fill:var(--native)}svg "
	".bit{fill:var(--soft);stroke:var(--line)}svg .bit.exponent{stroke:var(--blue)}svg "
	".bit.sign{"
	"stroke:var(--far);stroke-width:2}svg "
	".bit.flip{fill:var(--flip);stroke:var(--fg);stroke-width:2}"
	"svg .mark{fill:var(--flip)}\n",
	"details{margin:.3em 0}summary{cursor:pointer;color:var(--blue)}footer{margin-top:3em;"
	"color:var(--muted);font-size:.88rem}.two{display:grid;grid-template-columns:repeat(auto-"
	"fit,minmax(min(100%,440px),1fr));"
	"gap:6px 24px}.two>*{min-width:0}\n",
	"@media "
	"print{body{background:#fff;color:#000;font-size:11pt}main{max-width:none}.scroll,.plot{"
	"overflow:visible}.tag,.dot,svg rect,svg "
	"path{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
	"h2{break-after:avoid}details{break-inside:avoid}}\n",
	NULL};
