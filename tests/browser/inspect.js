// Reads documents as this browser does, runs nothing of them, and says what of a payload became active.
([word, documents]) => {
  const BAD = /^[\s\x00-\x20]*(javascript|vbscript|data):/i;
  const URLS = ["href", "src", "action", "formaction", "xlink:href", "data", "poster", "srcdoc", "srcset", "background"];
  const found = [];
  const look = (name, root, isPage) => {
    for (const element of root.querySelectorAll("*")) {
      const tag = element.localName.toLowerCase();
      if (tag.includes(word) || ["iframe", "object", "embed", "base", "frame", "marquee"].includes(tag)) {
        found.push(`${name}: <${tag}>`);
      }
      if (tag === "script" && isPage) {
        const isData = ["application/ld+json", "application/json"].includes(element.type);
        if (isData) {
          try { JSON.parse(element.textContent); } catch { found.push(`${name}: broken data in a script`); }
        } else if (!/^\/(static|admin\/jsi18n)\//.test(element.getAttribute("src"))) {
          found.push(`${name}: script ${element.textContent.slice(0, 60)}`);
        }
      }
      if (tag === "style" && isPage) found.push(`${name}: <style>`);
      if (tag === "meta" && element.httpEquiv) found.push(`${name}: <meta http-equiv>`);
      if (tag === "form" && BAD.test(element.getAttribute("action") ?? "")) found.push(`${name}: form`);
      for (const one of element.attributes) {
        const key = one.name.toLowerCase();
        if (key.startsWith("on") || key.includes(word) || key === "style") found.push(`${name}: <${tag} ${key}>`);
        if (URLS.includes(key) && BAD.test(one.value)) found.push(`${name}: ${tag} ${key}=${one.value.slice(0, 60)}`);
      }
      if (!isPage && element.getAttribute("type") === "html") {
        look(name, new DOMParser().parseFromString(element.textContent, "text/html"), true);
      }
    }
  };
  for (const [name, type, text] of documents) {
    const parsed = new DOMParser().parseFromString(text, type);
    if (parsed.querySelector("parsererror")) found.push(`${name}: not well-formed`);
    look(name, parsed, type === "text/html");
    const words = parsed.documentElement.textContent;
    if (words.includes(`49${word}`)) found.push(`${name}: a template was run`);
    if (/[\u202a-\u202e\u2066-\u2069]/.test(words)) found.push(`${name}: the direction of text is turned`);
  }
  return found;
}
