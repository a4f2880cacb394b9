// Says what hinders somebody on the page as it stands, and nothing else that axe knows of it.
async ([rules, isMeasured]) => {
  // What moves from one look to another is judged where it comes to rest.
  for (const one of document.getAnimations()) {
    if (Number.isFinite(one.effect.getComputedTiming().endTime)) one.finish();
  }
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (isMeasured && scrollWidth > clientWidth) found.push(`${scrollWidth - clientWidth} px too wide`);
  // axe resolves @import against the page and would ask for files that are not there. No rule run here reads stylesheets.
  const preload = { assets: ["media"] };
  const options = { resultTypes: ["violations"], preload, rules: { "target-size": { enabled: true } } };
  // The list of all models stands beside many pages, letter for letter the same: it is judged on the first.
  const list = document.querySelector("#nav-sidebar")?.outerHTML;
  const key = `judged ${innerWidth} ${matchMedia("(prefers-color-scheme: dark)").matches} ${rules}`;
  const where = list && sessionStorage.getItem(key) === list ? { exclude: ["#nav-sidebar"] } : document;
  if (list) sessionStorage.setItem(key, list);
  const answer = await axe.run(where, rules.length ? { ...options, rules: {}, runOnly: rules } : options);
  for (const one of answer.violations) {
    for (const node of one.nodes) found.push(`${one.id}: ${node.html.slice(0, 200)}`);
  }
  return found;
}
