/** Scripts that complete commands in a shell. */
import type { CommandLine } from "../command_line/mod.ts";
import { type Choice, type Word, wordsOf } from "./words.ts";

/** The supported shells. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

/** Writes the script with which a shell completes the commands of the table. */
export async function completionFor(line: CommandLine, shell: Shell): Promise<string> {
  const words = await wordsOf(line);
  switch (shell) {
    case "bash":
      return bash(line.name, words);
    case "zsh":
      return zsh(line.name, words);
    case "fish":
      return fish(line.name, words);
  }
}

/** The pattern of a shell's `case` that finds a command by its words. */
function keyOf({ path }: Word): string {
  return `"${path.join(" ")}"`;
}

/**
 * The part that bash and zsh share: finds the command among the words before the cursor. It knows
 * the options with a value by name, so it does not mistake their values for commands.
 */
function findCommand(words: readonly Word[], list: string, first: number): string {
  const valued = valuedFlags(words);
  const commands = words.filter(({ path }) => path.length > 0).map(keyOf);
  return `  local command="" word next skip=0 index
  for ((index = ${first}; index < current; index++)); do
    word="\${${list}[index]}"
    if ((skip)); then skip=0; continue; fi
    case "$word" in
      ${valued.join("|")}) skip=1; continue ;;
      -*) continue ;;
    esac
    next="\${command:+$command }$word"
    case "$next" in
      ${commands.join("|")}) command="$next" ;;
    esac
  done`;
}

/** The options of all commands that take a value. */
function valuedFlags(words: readonly Word[]): string[] {
  const options = words.flatMap((word) => word.options);
  return [...new Set(options.filter(({ takesValue }) => takesValue).flatMap(flagNames))];
}

function flagNames({ short, long }: Choice): string[] {
  return [...short === null ? [] : [`-${short}`], `--${long}`];
}

/** The cases for the value of an option. */
function valueCases(words: readonly Word[], files: string, folders: string, list: string): string {
  return words.map((word) => {
    const cases = word.options.filter(({ takesValue }) => takesValue).map((option) => {
      const names = flagNames(option).join("|");
      if (option.choices.length > 0) return `${names}) ${list} ${option.choices.join(" ")} ;;`;
      if (option.completes === "file") return `${names}) ${files} ;;`;
      if (option.completes === "folder") return `${names}) ${folders} ;;`;
      return `${names}) ;;`;
    });
    if (cases.length === 0) return "";
    const indented = cases.map((line) => `        ${line}`).join("\n");
    return `    ${keyOf(word)}) case "$before" in\n${indented}
        *) return 1 ;;
      esac ;;`;
  }).filter((text) => text !== "").join("\n");
}

function bash(name: string, words: readonly Word[]): string {
  const follow = words.map((word) => {
    const names = [...word.commands.map(([command]) => command), ...word.choices];
    const options = word.options.map(({ long }) => `--${long}`);
    const file = word.completes === null ? "" : ` files=-${word.completes === "file" ? "f" : "d"}`;
    return `    ${keyOf(word)}) names="${names.join(" ")}" options="${
      options.join(" ")
    }"${file} ;;`;
  });
  return `# bash completion for ${name}: source <(${name} completion bash)
_${name}_value() {
  case "$command" in
${
    valueCases(
      words,
      'COMPREPLY=($(compgen -f -- "$typed"))',
      'COMPREPLY=($(compgen -d -- "$typed"))',
      "_muster_list",
    )
  }
    *) return 1 ;;
  esac
}
_${name}_list() { COMPREPLY=($(compgen -W "$*" -- "$typed")); }
_${name}() {
  local current=$COMP_CWORD typed="\${COMP_WORDS[COMP_CWORD]}" names="" options="" files=""
  local before="\${COMP_WORDS[COMP_CWORD - 1]}"
${findCommand(words, "COMP_WORDS", 1)}
  COMPREPLY=()
  if [[ $before == -* ]] && _${name}_value; then return; fi
  case "$command" in
${follow.join("\n")}
  esac
  if [[ $typed == -* ]]; then names="$options" files=""; fi
  COMPREPLY=($(compgen -W "$names" -- "$typed"))
  if [[ -n $files ]]; then COMPREPLY+=($(compgen $files -- "$typed")); fi
}
complete -o filenames -o bashdefault -F _${name} ${name}
`.replaceAll("_muster_list", `_${name}_list`);
}

/** Puts a text between single quotes, for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function zsh(name: string, words: readonly Word[]): string {
  const follow = words.map((word) => {
    const rows = (pairs: readonly (readonly [string, string])[]) =>
      pairs.map(([term, meaning]) => quote(`${term.replaceAll(":", "\\:")}:${meaning}`)).join(" ");
    const names = rows([...word.commands, ...word.choices.map((one) => [one, ""] as const)]);
    const options = rows(word.options.map(({ long, summary }) => [`--${long}`, summary]));
    const files = word.completes === null ? "" : ` files=${word.completes}`;
    return `    ${keyOf(word)}) names=(${names}) options=(${options})${files} ;;`;
  });
  return `#compdef ${name}
# zsh completion for ${name}: source <(${name} completion zsh)
_${name}_value() {
  case "$command" in
${valueCases(words, "_files", "_files -/", "compadd --")}
    *) return 1 ;;
  esac
}
_${name}() {
  local current=$CURRENT typed="$words[CURRENT]" before="$words[CURRENT-1]" files=""
  local -a names options
${findCommand(words, "words", 2)}
  if [[ $before == -* ]] && _${name}_value; then return; fi
  case "$command" in
${follow.join("\n")}
  esac
  if [[ $typed == -* ]]; then _describe option options; return; fi
  if (($#names)); then _describe command names; fi
  case "$files" in
    file) _files ;;
    folder) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fish(name: string, words: readonly Word[]): string {
  const lines = words.flatMap((word) => {
    const condition = quote(`test (__${name}_command) = ${quote(word.path.join(" "))}`);
    const start = `complete -c ${name} -n ${condition}`;
    return [
      ...word.commands.map(([command, summary]) =>
        `${start} -f -a ${command} -d ${quote(summary)}`
      ),
      ...word.choices.length === 0 ? [] : [`${start} -f -a ${quote(word.choices.join(" "))}`],
      ...word.completes === null ? [] : [`${start} -F`],
      ...word.options.map((option) => `${start} ${fishOption(option)}`),
    ];
  });
  const commands = words.filter(({ path }) => path.length > 0).map(keyOf);
  return `# fish completion for ${name}: ${name} completion fish | source
function __${name}_command
  set -l command ""
  set -l skip 0
  for word in (commandline -opc)[2..]
    if test $skip = 1
      set skip 0
      continue
    end
    switch "$word"
      case ${valuedFlags(words).join(" ")}
        set skip 1
        continue
      case '-*'
        continue
    end
    set -l next (string trim "$command $word")
    switch "$next"
      case ${commands.join(" ")}
        set command "$next"
    end
  end
  echo -n -- "$command" | string collect --allow-empty
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

function fishOption({ short, long, summary, takesValue, choices, completes }: Choice): string {
  return [
    ...short === null ? [] : [`-s ${short}`],
    `-l ${long}`,
    ...takesValue ? [completes === null ? "-x" : "-r -F"] : [],
    ...choices.length > 0 ? [`-a ${quote(choices.join(" "))}`] : [],
    `-d ${quote(summary)}`,
  ].join(" ");
}
