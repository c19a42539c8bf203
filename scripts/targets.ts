/** The platforms that muster is compiled for. */
import { parseArgs } from "node:util";

/** A platform, by its format of executables and its processor. */
export interface Platform {
  readonly os: "linux" | "macos" | "windows";
  readonly arch: "x86_64" | "aarch64";
}

/** A platform that `deno compile --target` knows. */
export interface Target extends Platform {
  /** Its name, a target triple. */
  readonly name: string;
}

/** Every target of `deno task compile`. */
export const TARGETS: readonly Target[] = [
  { name: "x86_64-unknown-linux-gnu", os: "linux", arch: "x86_64" },
  { name: "aarch64-unknown-linux-gnu", os: "linux", arch: "aarch64" },
  { name: "x86_64-apple-darwin", os: "macos", arch: "x86_64" },
  { name: "aarch64-apple-darwin", os: "macos", arch: "aarch64" },
  { name: "x86_64-pc-windows-msvc", os: "windows", arch: "x86_64" },
];

/** How the three formats name a processor: ELF and Mach-O in a header, PE after its signature. */
const ELF_MACHINES: ReadonlyMap<number, Platform["arch"]> = new Map([
  [62, "x86_64"],
  [183, "aarch64"],
]);
const MACH_PROCESSORS: ReadonlyMap<number, Platform["arch"]> = new Map([
  [0x01000007, "x86_64"],
  [0x0100000c, "aarch64"],
]);
const PE_MACHINES: ReadonlyMap<number, Platform["arch"]> = new Map([
  [0x8664, "x86_64"],
  [0xaa64, "aarch64"],
]);

/** How much of a file names its platform. */
const HEADER_BYTES = 4096;

/** The target with this name; undefined if there is none. */
export function findTarget(name: string): Target | undefined {
  return TARGETS.find((target) => target.name === name);
}

/**
 * The targets after `--target` in arguments, where `all` means each of them; none if it is absent.
 *
 * @returns a sentence with all targets if one is unknown.
 */
export function readTargets(args: string[]): readonly Target[] | string {
  const { target: names = [] } = parseArgs({
    args,
    options: { target: { type: "string", multiple: true } },
  }).values;
  if (names.includes("all")) return TARGETS;
  const targets = names.map(findTarget).filter((target) => target !== undefined);
  if (targets.length === names.length) return targets;
  return `The targets are ${["all", ...TARGETS.map(({ name }) => name)].join(", ")}`;
}

/** The target of this machine. */
export function hostTarget(): Target {
  const target = findTarget(Deno.build.target);
  if (target === undefined) throw new Error(`muster has no target for ${Deno.build.target}`);
  return target;
}

/** The name of the executable on a system. */
export function executableName(os: string): string {
  return os === "windows" ? "muster.exe" : "muster";
}

/**
 * Reads the platform of an executable from its header.
 *
 * @returns null if the file is not an executable of a 64-bit platform that muster runs on.
 * @throws The file cannot be read.
 */
export function readPlatform(path: string): Platform | null {
  const bytes = new Uint8Array(HEADER_BYTES);
  using file = Deno.openSync(path);
  file.readSync(bytes);
  return platformOf(bytes);
}

/** The platform that the first bytes of an executable name; null if they name none. */
export function platformOf(bytes: Uint8Array): Platform | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (view.getUint32(0, true)) {
    case 0x464c457f:
      return platform("linux", ELF_MACHINES.get(view.getUint16(18, true)));
    case 0xfeedfacf:
      return platform("macos", MACH_PROCESSORS.get(view.getUint32(4, true)));
  }
  if (view.getUint16(0, true) !== 0x5a4d) return null;
  const signature = view.getUint32(60, true);
  if (signature + 6 > bytes.length || view.getUint32(signature, true) !== 0x4550) return null;
  return platform("windows", PE_MACHINES.get(view.getUint16(signature + 4, true)));
}

function platform(os: Platform["os"], arch: Platform["arch"] | undefined): Platform | null {
  return arch === undefined ? null : { os, arch };
}
