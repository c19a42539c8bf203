/** Runs the `fossil` program in a home of its own, so that no setting of the machine matters. */

/** What a run of the program gave. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A scratch folder with a `fossil` to run in it; gone when disposed. */
export class Scratch implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "muster-fossil-" });
  readonly #program: string;

  /** @param program the `fossil` to run: a name or a path. */
  constructor(program = "fossil") {
    this.#program = program;
  }

  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  write(name: string, content: Uint8Array | string): string {
    const path = this.path(name);
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeFileSync(path, typeof content === "string" ? encode(content) : content);
    return path;
  }

  /** Runs `fossil`; a failure is a value. */
  run(args: readonly string[], folder = this.folder): Run {
    const output = new Deno.Command(this.#program, {
      args: [...args],
      cwd: folder,
      stdin: "null",
      clearEnv: true,
      env: {
        HOME: this.folder,
        PATH: Deno.env.get("PATH") ?? "",
        USER: "alice",
        LC_ALL: "C.UTF-8",
      },
    }).outputSync();
    const decoder = new TextDecoder();
    const [stdout, stderr] = [decoder.decode(output.stdout), decoder.decode(output.stderr)];
    return { code: output.code, stdout, stderr };
  }

  /** Runs `fossil` and gives its standard output; a failure is an error. */
  fossil(args: readonly string[], folder = this.folder): string {
    const { code, stdout, stderr } = this.run(args, folder);
    if (code !== 0) throw new Error(`fossil ${args.join(" ")}: ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

/** UTF-8 bytes. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
