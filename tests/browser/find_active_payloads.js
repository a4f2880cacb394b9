// Parses documents as this browser does, without running scripts, and returns the parts of payloads that are active.
([word, documents]) => {
  const BAD = /^[\s\x00-\x20]*(javascript|vbscript|data):/i;
  const URLS = ["href", "src", "action", "formaction", "xlink:href", "data", "poster", "srcdoc", "srcset", "background"];
  const issues = [];
  const inspect = (name, root, isPage) => {
    for (const element of root.querySelectorAll("*")) {
      const tag = element.localName.toLowerCase();
      if (tag.includes(word) || ["iframe", "object", "embed", "base", "frame", "marquee"].includes(tag)) {
        issues.push(`${name}: <${tag}>`);
      }
      if (tag === "script" && isPage) {
        const isData = ["application/ld+json", "application/json"].includes(element.type);
        if (isData) {
          try { JSON.parse(element.textContent); } catch { issues.push(`${name}: broken data in a script`); }
        } else if (!/^\/(static|admin\/jsi18n)\//.test(element.getAttribute("src"))) {
          issues.push(`${name}: script ${element.textContent.slice(0, 60)}`);
        }
      }
      if (tag === "style" && isPage) issues.push(`${name}: <style>`);
      if (tag === "meta" && element.httpEquiv) issues.push(`${name}: <meta http-equiv>`);
      if (tag === "form" && BAD.test(element.getAttribute("action") ?? "")) issues.push(`${name}: form`);
      for (const attribute of element.attributes) {
        const key = attribute.name.toLowerCase();
        if (key.startsWith("on") || key.includes(word) || key === "style") issues.push(`${name}: <${tag} ${key}>`);
        if (URLS.includes(key) && BAD.test(attribute.value)) issues.push(`${name}: ${tag} ${key}=${attribute.value.slice(0, 60)}`);
      }
      if (!isPage && element.getAttribute("type") === "html") {
        inspect(name, new DOMParser().parseFromString(element.textContent, "text/html"), true);
      }
    }
  };
  for (const [name, type, source] of documents) {
    const parsed = new DOMParser().parseFromString(source, type);
    if (parsed.querySelector("parsererror")) issues.push(`${name}: not well-formed`);
    inspect(name, parsed, type === "text/html");
    const text = parsed.documentElement.textContent;
    if (text.includes(`49${word}`)) issues.push(`${name}: a template was evaluated`);
    if (/[\u202a-\u202e\u2066-\u2069]/.test(text)) issues.push(`${name}: the direction of text is changed`);
  }
  return issues;
}
