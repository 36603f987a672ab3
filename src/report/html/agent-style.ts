/** What the agent's page has beyond the style sheet of every page. */
export const AGENT_STYLE = `
a.brand{text-decoration:none}
#live{font-size:.875rem}
.agent{display:grid;gap:.7rem;margin-top:.8rem}
.row{display:grid;grid-template-columns:minmax(10rem,15rem) minmax(0,1fr);gap:.5rem 1.8rem;padding:.95rem 1.1rem;border:1px solid var(--line);border-radius:8px;background:var(--card);overflow-wrap:anywhere}
.row h3 code,.fine code{font-weight:400;color:var(--soft)}.row h3 code{display:block}
.row h3+p{margin-top:.45rem}
.row dl{display:flex;flex-wrap:wrap;gap:.15rem 1.4rem;margin-top:.35rem;font-size:.875rem}.row dl>div{display:flex;gap:.45em}.row dt{color:var(--soft)}
.paste{display:flex;flex-wrap:wrap;gap:.5rem;align-items:stretch;margin-top:.6rem}
.command{flex:0 1 auto;min-width:0;padding:.35rem .6rem;border:1px solid var(--line);border-radius:5px;background:var(--faint);user-select:all}
.paste button{font:inherit;font-size:.875rem;color:var(--ink);background:var(--ground);border:1px solid var(--soft);border-radius:5px;padding:.2rem .65rem;cursor:pointer}.paste button:hover{border-color:var(--ink)}
.row .more{margin-top:.6rem}.row .more>summary{font-size:.9375rem;color:var(--soft);width:max-content}.row .more[open]>summary::before{transform:rotate(45deg)}
.row .scroll{margin-top:.5rem}.row table{min-width:44rem;font-size:.875rem}.row :is(td,th){padding:.35rem .8rem}.row thead th{white-space:nowrap}.row td{overflow-wrap:break-word}.row tbody tr{border-top:1px solid var(--line)}.row tbody th{color:var(--ink);width:34%}.row tbody th code{color:var(--soft)}.row .chip{white-space:nowrap}
.fine{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,27rem),1fr));gap:.1rem 2rem;margin-top:.6rem}.fine li{display:flex;gap:.6rem;align-items:baseline;padding:.35rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}.fine .icon{color:var(--good);align-self:start;margin-top:.25em}.fine .quiet{font-size:.875rem;display:block}
@media (max-width:34rem){.row{grid-template-columns:minmax(0,1fr);padding:.85rem .9rem}}
`
