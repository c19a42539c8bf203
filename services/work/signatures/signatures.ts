import type { GitSignature } from "../../engines/fossil/mod.ts";
import type { SigningKeys } from "../../people/signing_keys/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { SignatureView } from "./schemas.ts";

export interface SignaturesOptions {
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly keys: Pick<SigningKeys, "ownerOf" | "version">;
}

/** The signatures of commits, with the accounts whose keys made them. */
export class Signatures {
  readonly #options: SignaturesOptions;

  constructor(options: SignaturesOptions) {
    this.#options = options;
  }

  /** Changes whenever {@link viewOf} may answer otherwise. */
  get version(): number {
    return this.#options.keys.version;
  }

  /** The signatures of check-ins by their names, as far as they have any. */
  async of(
    project: Project,
    checkins: readonly string[],
  ): Promise<ReadonlyMap<string, SignatureView>> {
    const found = await this.#options.repositories.read(
      project,
      (repository) => repository.gitSignatures(checkins),
    );
    return new Map(checkins.flatMap((checkin, place) => {
      const view = this.viewOf(found[place] ?? null);
      return view === null ? [] : [[checkin, view]];
    }));
  }

  /** What a signature tells; null if there is none, or it is not known yet. */
  viewOf(found: GitSignature): SignatureView | null {
    if (found === null || found === "pending") return null;
    if (found.kind !== "ssh") return { kind: found.kind, state: "unknown" };
    const { fingerprint, isGood, isAmended } = found;
    const key = fingerprint === null ? {} : { fingerprint };
    if (isGood === false) return { kind: "ssh", state: "bad", ...key };
    const by = isGood && fingerprint !== null ? this.#options.keys.ownerOf(fingerprint) : null;
    if (by === null) return { kind: "ssh", state: "unknown", ...key };
    return isAmended
      ? { kind: "ssh", state: "amended", ...key }
      : { kind: "ssh", state: "verified", by, ...key };
  }
}
