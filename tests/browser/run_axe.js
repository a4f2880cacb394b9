// Returns the violations that axe finds on the page in its current display, and whether the page is too wide.
async ([rules, isMeasured]) => {
  // Finish transitions between displays before the check.
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
  }
  const issues = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (isMeasured && scrollWidth > clientWidth) issues.push(`${scrollWidth - clientWidth} px too wide`);
  // axe resolves @import against the page and would request files that do not exist. No rule run here reads stylesheets.
  const preload = { assets: ["media"] };
  const options = { resultTypes: ["violations"], preload, rules: { "target-size": { enabled: true } } };
  // Many pages have the same list of models in a sidebar: it is only checked on the first of them.
  const list = document.querySelector("#nav-sidebar")?.outerHTML;
  const key = `checked ${innerWidth} ${matchMedia("(prefers-color-scheme: dark)").matches} ${rules}`;
  const context = list && sessionStorage.getItem(key) === list ? { exclude: ["#nav-sidebar"] } : document;
  if (list) sessionStorage.setItem(key, list);
  const results = await axe.run(context, rules.length ? { ...options, rules: {}, runOnly: rules } : options);
  for (const violation of results.violations) {
    for (const node of violation.nodes) issues.push(`${violation.id}: ${node.html.slice(0, 200)}`);
  }
  return issues;
}
