/** The shell script that runs a job's commands, inside its isolation. */

/**
 * Begins each command, and ends everything when it is told to, or when the runner is gone.
 *
 * Its arguments are a marker, the length of a script in bytes, and what `kill` calls all of the
 * job's processes. Its input is that script, then a line to end them, and another one to kill them.
 * The script sets the environment, `shell`, and the commands as positional parameters: so a command
 * and a secret are in no list of processes, and a variable such as LD_PRELOAD cannot reach the
 * programs that set up the isolation.
 */
export const SUPERVISOR = `
umask 022
exec 3<&0 </dev/null
marker=$1 all=$3
script=$(head -c "$2" <&3)
(
  trap '' TERM HUP INT
  read -r _ <&3 && kill -TERM "$all"
  read -r _ <&3
  kill -KILL "$all"
) >/dev/null 2>&1 &
exec 3<&-
trap : TERM HUP INT
eval "$script"
unset script all
for command do
  printf '%s\\n' "$marker"
  printf '%s\\n' "$marker" >&2
  "$shell" -e -c "$command" || exit
done
`;

/** What the supervisor reads first. */
export function supervisorScript(
  { env, shell, commands }: {
    readonly env: Readonly<Record<string, string>>;
    readonly shell: string;
    readonly commands: readonly string[];
  },
): Uint8Array<ArrayBuffer> {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const lines = [
    ...variables,
    `shell=${quoted(shell)}`,
    `set -- ${commands.map(quoted).join(" ")}`,
  ];
  return new TextEncoder().encode(`${lines.join("\n")}\n:`);
}

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
