/** Languages of code by the endings of file names, as `highlight.js` calls them. */
const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ...named("bash", "sh bash zsh ksh"),
  ...named("c", "c h"),
  ...named("cpp", "cc cpp cxx hpp hh hxx ino"),
  ...named("csharp", "cs"),
  ...named("css", "css"),
  ...named("diff", "diff patch"),
  ...named("go", "go"),
  ...named("graphql", "graphql gql"),
  ...named("ini", "ini toml cfg conf editorconfig gitconfig npmrc"),
  ...named("java", "java"),
  ...named("javascript", "js mjs cjs jsx"),
  ...named("json", "json jsonc json5 webmanifest map"),
  ...named("kotlin", "kt kts"),
  ...named("less", "less"),
  ...named("lua", "lua"),
  ...named("makefile", "mk mak"),
  ...named("markdown", "md markdown mkd"),
  ...named("objectivec", "m mm"),
  ...named("perl", "pl pm t"),
  ...named("php", "php phtml"),
  ...named("python", "py pyi pyw"),
  ...named("r", "r"),
  ...named("ruby", "rb rake gemspec"),
  ...named("rust", "rs"),
  ...named("scss", "scss"),
  ...named("sql", "sql"),
  ...named("swift", "swift"),
  ...named("typescript", "ts mts cts tsx"),
  ...named("vbnet", "vb"),
  ...named("wasm", "wat"),
  ...named("xml", "xml html htm xhtml svg xsl xsd plist rss atom ejs hbs vue"),
  ...named("yaml", "yml yaml"),
]);

/** Languages by whole names of files, in lower case. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...named("makefile", "makefile gnumakefile"),
  ...named("bash", ".bashrc .profile .zshrc configure"),
  ...named("ruby", "gemfile rakefile"),
  ...named("json", ".eslintrc .babelrc .prettierrc"),
  ...named("ini", ".gitconfig .npmrc .editorconfig"),
]);

function named(language: string, names: string): [string, string][] {
  return names.split(" ").map((name) => [name, language]);
}

/** The language of a file by its name; null if it is not known. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf(".") + 1);
  return BY_NAME.get(name) ?? (name.includes(".") ? BY_ENDING.get(ending) : undefined) ?? null;
}
