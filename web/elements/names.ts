/**
 * Lets fields for several names suggest each of them: a browser compares its suggestions with all
 * that is written, so they begin with the names before the last.
 */
export function startNames(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[data-names]")) {
    const options = [...field.list?.options ?? []];
    const names = options.map(({ value }) => value);
    field.addEventListener("input", () => {
      const [before = ""] = /^.*[\s,]/s.exec(field.value) ?? [];
      const chosen = new Set(before.split(/[\s,]+/));
      for (const [index, option] of options.entries()) {
        const name = names[index] ?? "";
        option.value = before + name;
        option.disabled = chosen.has(name);
      }
    });
  }
}
