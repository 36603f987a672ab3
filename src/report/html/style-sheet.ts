/** The pages' style sheet. Tones come as pairs of text and ground whose contrast is AA in either scheme. */
export const STYLE = `
:root{color-scheme:light dark;
--ground:#fbfaf6;--card:#fff;--ink:#1e1d1a;--soft:#5d584e;--line:#e3dfd4;--faint:#f0ede5;--leaf:#22683f;--focus:#1557b0;
--calm:#3f5d52;--calm-g:#e9f0ec;--good:#1c6b3c;--good-g:#e2f2e7;--warn:#8a4300;--warn-g:#fcecd6;--bad:#a0222c;--bad-g:#fbe5e4;--move:#573b9b;--move-g:#ece8f9;--quiet:#5d584e;--quiet-g:#efece5;
--mono:"JetBrains Mono",ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
--sans:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media (prefers-color-scheme:dark){:root{
--ground:#151613;--card:#1c1d1a;--ink:#eae7df;--soft:#aaa498;--line:#34352f;--faint:#242520;--leaf:#86cfa0;--focus:#8db9f5;
--calm:#a9c6b8;--calm-g:#22302a;--good:#83d3a0;--good-g:#1a3323;--warn:#f3b871;--warn-g:#3a2913;--bad:#f69f98;--bad-g:#401f1e;--move:#c1b1f6;--move-g:#2d2646;--quiet:#aaa498;--quiet-g:#2a2b26}}
*{box-sizing:border-box}
html{font:400 1rem/1.5 var(--sans);font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%;scroll-padding-top:5rem}
body{margin:0;background:var(--ground);color:var(--ink);font-size:.9375rem}
header,main,footer{max-width:82rem;margin:0 auto;padding:0 clamp(1rem,3.2vw,2.5rem)}
h1,h2,h3,h4,h5,p,ul,ol,dl,dd,figure{margin:0}
ul,ol{padding:0;list-style:none}
h1{font-size:clamp(1.5rem,1.1rem + 1.9vw,2.375rem);line-height:1.15;letter-spacing:-.022em;font-weight:650;text-wrap:balance}
h2{font-size:1.1875rem;letter-spacing:-.012em;font-weight:650}
h3{font-size:1rem;font-weight:620}
code,pre{font-family:var(--mono);font-size:.84em;overflow-wrap:anywhere}
a{color:inherit;text-decoration-color:var(--soft);text-underline-offset:.2em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:1rem;top:-4rem;background:var(--ink);color:var(--ground);padding:.6rem 1rem;border-radius:0 0 6px 6px;z-index:9}
.skip:focus{top:0}
.sheet{position:absolute}
.lead,.facts,.projects,.seen,.since,.quiet{color:var(--soft)}
.lead{max-width:95ch}
.icon{width:1.05em;height:1.05em;flex:none}
.icon,use,symbol{fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.calm{--tone:var(--calm);--tone-g:var(--calm-g)}.good{--tone:var(--good);--tone-g:var(--good-g)}.warn{--tone:var(--warn);--tone-g:var(--warn-g)}.bad{--tone:var(--bad);--tone-g:var(--bad-g)}.move{--tone:var(--move);--tone-g:var(--move-g)}.quiet{--tone:var(--quiet);--tone-g:var(--quiet-g)}

header{padding-top:1.1rem}
.strip{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 2rem;padding-bottom:.85rem;border-bottom:1px solid var(--line);margin-bottom:clamp(1.4rem,3vw,2.4rem);font-size:.875rem}
.brand{display:flex;align-items:center;gap:.5rem;font-weight:650;letter-spacing:-.01em}
.brand span{font-weight:400;color:var(--soft)}
.logo{fill:none;stroke:var(--leaf);stroke-width:1.9;stroke-linecap:round;stroke-linejoin:round}
h1 .icon{width:.8em;height:.8em;margin-right:.35em;vertical-align:-.06em;color:var(--tone);stroke-width:2.2}
.facts{margin-top:.7rem;max-width:78ch;font-size:1rem}
.projects{margin-top:.15rem}.projects b{color:var(--ink);font-weight:600;overflow-wrap:anywhere}
.since{margin-top:.4rem}
.chips{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.1rem}
.chip{display:inline-flex;align-items:center;gap:.4em;padding:.16em .6em .16em .45em;border-radius:5px;background:var(--tone-g);color:var(--tone);font-weight:560;font-size:.875rem;line-height:1.4}
.chips .chip{font-size:.9375rem;padding:.28em .75em .28em .55em}
.notes{margin-top:1.1rem;border-left:3px solid var(--warn);padding:.1rem 0 .1rem .9rem;display:grid;gap:.35rem;max-width:85ch;overflow-wrap:anywhere}
nav{margin-top:1.6rem;border-bottom:1px solid var(--line)}
nav ul{display:flex;gap:.25rem 1.4rem;flex-wrap:wrap;padding-bottom:.7rem}
nav a{font-size:.875rem;color:var(--soft);text-decoration:none;padding:.15rem 0}nav a:hover{color:var(--ink);text-decoration:underline}
main>section,main>.pair-up{margin-top:clamp(1.8rem,3.5vw,2.8rem)}
main h2+*{margin-top:.35rem}
footer{margin-top:3.5rem;padding-top:1rem;padding-bottom:2.5rem;color:var(--soft);font-size:.8125rem}

.warnings li{display:flex;gap:.6rem;padding:.55rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}.warnings li:first-child{border:0}.warnings .icon{margin-top:.25em;color:var(--warn)}.warnings b{font-family:var(--mono);font-size:.8125rem;font-weight:600;color:var(--warn)}.warnings code{color:var(--soft)}
.pair-up{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:clamp(1.8rem,3.5vw,3.5rem)}
.loud{margin-top:.7rem;border-top:1px solid var(--line)}
.loud li{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.3rem 1rem;padding:.55rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.loud a{font-weight:560;text-decoration:none}.loud a:hover{text-decoration:underline}.loud small{display:block;font-weight:400;font-size:.8125rem}.loud a :is(span,small){color:var(--soft);font-weight:400}.loud .refused{width:100%;color:var(--soft);font-size:.875rem}
.measures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr));gap:1.1rem 2.2rem;margin-top:.9rem}
.measures h3{font-size:.8125rem;font-weight:500;color:var(--soft)}
.figure{display:flex;flex-wrap:wrap;align-items:baseline;column-gap:.45rem;font-size:1.1875rem;letter-spacing:-.015em}.figure .to{font-weight:650}.figure .from,.to-sign{color:var(--soft)}.delta{font-size:.8125rem;letter-spacing:0;color:var(--soft)}
.measures svg{display:block;width:100%;margin-top:.35rem}
rect.was{fill:var(--soft);opacity:.6}rect.will{fill:var(--leaf)}rect.was.reach{opacity:.28}rect.will.reach{opacity:.42}

.scroll{margin-top:1rem;overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--card)}
.chart{min-width:46rem}
.pair{display:grid;grid-template-columns:17.5rem minmax(0,1fr);column-gap:1rem;padding:0 1.5rem 0 1rem}
.chart svg{overflow:visible;width:100%;display:block;font-size:1rem}
.chart text{font-size:.8125rem;fill:var(--soft)}
.axis{padding-top:.6rem;font-size:.8125rem;color:var(--soft)}.axis text.moment{fill:var(--warn);font-weight:600}
.lane{border-top:1px solid var(--line)}
.lane>summary{align-items:center;padding-block:.5rem;background:var(--faint)}
.lane h3{font-size:.9375rem;overflow-wrap:anywhere}.lane small{display:block;font-weight:400;color:var(--soft);font-size:.8125rem;padding-left:1.05rem}
.mini .base{stroke:var(--line)}.mini rect{fill:var(--tone);rx:1.5px;stroke:var(--faint);stroke-width:1}.mini use{color:var(--tone)}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
summary h3::before,.step>summary::before,.more>summary::before{content:"";display:inline-block;width:.42em;height:.42em;border:solid currentColor;border-width:0 1.6px 1.6px 0;transform:rotate(-45deg);margin-right:.6em;vertical-align:.14em;color:var(--soft)}
details[open]>summary h3::before,.step[open]>summary::before,section>.more[open]>summary::before{transform:rotate(45deg);vertical-align:.22em}
@media (prefers-reduced-motion:no-preference){summary h3::before,summary::before{transition:transform .12s}html{scroll-behavior:smooth}}
.rows ol{font-size:1rem}
.rows li{height:2.75em;display:flex;align-items:center}
.rows a{display:flex;gap:.6rem;align-items:baseline;text-decoration:none;min-width:0;font-size:.875rem;line-height:1.3;padding:.1rem 0}
.rows .what{min-width:0;display:block}.rows b,.rows .what>span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:14.8rem}.rows b{font-weight:560}.rows b span{font-family:var(--mono)}.rows .what>span{color:var(--soft);font-size:.8125rem}.rows a:hover b{text-decoration:underline}
.no{color:var(--soft);font-size:.8125rem;min-width:1.4em;text-align:right;flex:none}
.track .grid{stroke:var(--line);stroke-dasharray:1 3}
.track .moment{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:5 3}
.bar>rect:first-child{fill:var(--tone-g);stroke:var(--tone);stroke-width:1.3}
.bar text{fill:var(--ink)}.bar use{color:var(--tone);stroke-width:2}.bar.calm text{fill:var(--soft)}.bar.warn text,.bar.bad text,.bar.move text{fill:var(--tone);font-weight:600}
.after{fill:none;stroke:var(--soft);stroke-width:1.3;stroke-linecap:round;stroke-linejoin:round}
.bar .wait{fill:url(#hatch)}.hatch{stroke:var(--tone,var(--soft));stroke:var(--soft);stroke-width:2.2}.bar .operation{fill:var(--ink);opacity:.75}.call path{fill:var(--ink);stroke:none}.call circle{fill:none;stroke:var(--ink);stroke-width:1.4}
.off{opacity:.22}

#filters{display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:end;margin-top:clamp(1.8rem,3.5vw,2.8rem);padding:.7rem .9rem;border:1px solid var(--line);border-radius:8px;background:var(--card)}
#filters[hidden]{display:none}
#filters p{display:grid;gap:.1rem}#filters label{font-size:.8125rem;color:var(--soft)}
#filters :is(input,select,button){font:inherit;font-size:.875rem;color:var(--ink);background:var(--ground);border:1px solid var(--soft);border-radius:5px;padding:.28rem .55rem;min-height:2.1rem;max-width:100%}
#filters ::placeholder{color:var(--soft);opacity:1}
#filters .buttons{display:flex;gap:.5rem}#filters button{cursor:pointer;background:var(--faint)}#filters button:hover{border-color:var(--ink)}
#shown{align-self:center;color:var(--soft);font-size:.875rem}
@media (min-width:60rem) and (min-height:36rem){#filters{position:sticky;top:.5rem;z-index:2;box-shadow:0 6px 16px -12px rgb(0 0 0/.35)}}

.project{margin-top:1rem}
.project>summary{display:flex;flex-wrap:wrap;gap:.2rem 1rem;justify-content:space-between;align-items:baseline;padding:.55rem 0;border-bottom:2px solid var(--ink)}
.project h3{font-size:1.0625rem;overflow-wrap:anywhere}.project h3 code{font-weight:400;color:var(--soft);margin-left:.3em}.counts{color:var(--soft);font-size:.875rem}
.branch{position:relative;margin:1.3rem 0 0;padding-left:1.5rem;}
.many .branch{content-visibility:auto;contain-intrinsic-size:auto 14rem}
.branch::before{content:"";position:absolute;left:.3rem;top:.55rem;bottom:.3rem;width:0;border-left:2px solid var(--leaf);opacity:.55}
h4{font-size:.9375rem;font-weight:620;overflow-wrap:anywhere}h4 code{font-weight:400;color:var(--soft);margin-left:.4em}
.change,.still>li{position:relative}
.change::before,.branch .still>li::before{content:"";position:absolute;left:-1.2rem;top:1.75rem;width:.85rem;border-top:2px solid var(--leaf);opacity:.55}
.branch .still>li::before{top:1rem}
.change{display:grid;grid-template-columns:minmax(9rem,13rem) minmax(0,1.25fr) minmax(0,1fr);gap:.5rem 1.8rem;margin-top:.6rem;padding:.95rem 1.1rem;border:1px solid var(--line);border-radius:8px;background:var(--card);overflow-wrap:anywhere}
.change[hidden],.branch[hidden],.project[hidden]{display:none}
:is(.change,.step):target{outline:2px solid var(--leaf);outline-offset:3px;border-radius:6px}
.kind{display:inline-block;color:var(--tone);font-size:.875rem;font-weight:600}.kind [aria-hidden]{font-family:var(--mono)}
h5{font-size:1.0625rem;font-weight:640;letter-spacing:-.01em;line-height:1.3}.id{color:var(--soft);font-size:.875rem}.drift{font-size:.875rem;color:var(--move);font-weight:560}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;font-weight:400;color:var(--soft);vertical-align:baseline}td{vertical-align:baseline}
.numbers :is(th,td){padding:.3rem 1rem;white-space:nowrap}.numbers tbody tr{border-top:1px solid var(--line)}.advice li{padding:.5rem 0;border-top:1px solid var(--line)}.advice p{max-width:95ch}
.values thead th{font-size:.8125rem;padding-bottom:.15rem}.values :is(th,td){padding:.14rem .8rem .14rem 0}.values tbody th{width:42%;overflow-wrap:anywhere}.values td{width:29%}.values td:nth-of-type(2){font-weight:620}.values tbody tr{border-top:1px solid var(--line)}.values .derived td{font-weight:400;color:var(--soft)}
.range{display:block;width:100%;margin-top:.6rem;overflow:visible;font-size:.875rem}.range .grid{stroke:var(--line)}.range text{font-size:.75rem;fill:var(--soft);text-anchor:middle}
.effect{display:grid;gap:.35rem;align-content:start}.effect .chip{align-items:start}.effect .chip .icon{margin-top:.17em}
.why,.place{font-size:.875rem;color:var(--soft)}.codes{font-family:var(--mono);font-size:.75rem}.refused{font-size:.875rem}.refused .icon{vertical-align:-.18em;margin-right:.35em}
.steps{grid-column:1/-1;display:grid;gap:.3rem;margin-top:.2rem}
.step{border-top:1px solid var(--line);padding-top:.45rem}
.step>summary{font-size:.875rem;padding:.1rem 0;color:var(--soft)}.step>summary code{color:var(--ink)}.step>summary:hover{color:var(--ink)}.step .no{margin-right:.45em;text-align:left;font-weight:620;color:var(--ink)}.step .chip{font-size:.8125rem;margin-left:.3rem}.took{font-size:.8125rem}
.step pre{margin:.5rem 0;padding:.7rem .9rem;background:var(--faint);border-radius:6px;overflow:auto;max-height:22rem;white-space:pre-wrap;font-size:.8125rem;line-height:1.45}
.step dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1rem .9rem;font-size:.875rem;margin:.3rem 0}.step dt{color:var(--soft)}
.message{display:flex;gap:.5rem;background:var(--tone-g);color:var(--tone);padding:.45rem .7rem;border-radius:6px;font-size:.875rem}.message .icon{margin-top:.2em}
.log{margin:.6rem 0 .4rem;font-size:.84rem}.log caption{text-align:left;color:var(--soft);font-size:.8125rem;padding-bottom:.2rem}.log th{font-size:.8125rem}.log td{padding:.16rem 0;border-top:1px solid var(--line)}.log td:first-child,.log th:first-child{width:6.5rem;color:var(--soft);white-space:nowrap;padding-right:1rem}.log .icon{width:.95em;height:.95em;margin-right:.5em;vertical-align:-.12em;color:var(--soft)}
.still{margin-top:.5rem;display:grid;gap:.15rem}.still li{display:flex;flex-wrap:wrap;gap:0 .6rem;align-items:baseline;padding:.3rem 0;font-size:.875rem;color:var(--soft);overflow-wrap:anywhere}.still .icon{align-self:center;width:.8em;height:.8em}.still em{font-style:normal}
.legend dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr));gap:.4rem 2rem;margin:.7rem 0 1rem}.legend dl>div{display:grid;grid-template-columns:9.5rem minmax(0,1fr);gap:.8rem;align-items:baseline;font-size:.875rem}.legend dd{color:var(--soft)}
.key{display:inline-block;width:1.8rem;height:.5rem;border-radius:2px;vertical-align:.1em;margin-right:.3em;background:var(--soft);opacity:.6}.key.will{background:var(--leaf);opacity:1}.key.line{height:.25rem;background:var(--ink);opacity:.75}.key.hatched{height:.8rem;opacity:1;background:repeating-linear-gradient(45deg,var(--soft) 0 2px,transparent 2px 5px);outline:1px solid var(--soft)}

@media (max-width:56rem){
.change{grid-template-columns:minmax(0,1fr);gap:.7rem}
.pair{grid-template-columns:13.5rem minmax(0,1fr)}.rows b,.rows .what>span{max-width:11rem}.chart{min-width:40rem}}
@media (max-width:34rem){
.branch{padding-left:1.1rem}.branch::before{left:0}.change::before,.branch .still>li::before{left:-1.05rem;width:.8rem}.change{padding:.85rem .9rem}
#filters p{flex:1 1 8rem}#filters .buttons{flex-basis:100%}#filters #shown{flex-basis:100%}
.legend dl>div{grid-template-columns:8.5rem minmax(0,1fr)}.measures{grid-template-columns:1fr 1fr}.figure{font-size:1.0625rem}}
@media (max-width:34rem){.values tbody th{width:40%}}
@media print{
:root{--ground:#fff;--faint:#f4f4f2}body{font-size:9.5pt}.skip,nav,#filters{display:none!important}header,main,footer{max-width:none;padding-inline:0}.scroll{overflow:visible}.chart{min-width:0}.branch{content-visibility:visible}.change{break-inside:avoid}
details::details-content{content-visibility:visible!important;display:block!important;block-size:auto!important}}
@media (forced-colors:active){.bar>rect:first-child,.mini rect,rect.was,rect.will{stroke:CanvasText}.chip{border:1px solid}}
`
