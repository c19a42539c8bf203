import type { SignatureView as Signature } from "../../services/work/signatures/schemas.ts";
import { AccountName, type NamePlace } from "./account_name.tsx";

/** What forms other than SSH's are called. */
const FORMS: Readonly<Record<Signature["kind"], string>> = {
  ssh: "an SSH key",
  gpg: "GPG",
  x509: "X.509",
  unknown: "something unknown",
};

/** A signature in a word; nothing for a commit without one. */
export function SignatureBadge({ signature }: { readonly signature: Signature | undefined }) {
  if (signature === undefined) return null;
  const { state, by } = signature;
  const [look, words] = state === "verified"
    ? ["good", "verified"]
    : state === "bad"
    ? ["bad", "bad signature"]
    : ["", "signed"];
  return (
    <>
      {" "}
      <span class={`badge ${look}`} title={by === undefined ? undefined : `Signed by ${by}`}>
        {words}
      </span>
    </>
  );
}

/** A signature in a sentence. */
export function SignatureFact({ signature, ...place }: NamePlace & {
  readonly signature: Signature | undefined;
}) {
  if (signature === undefined) return null;
  const { kind, state, by, fingerprint } = signature;
  return (
    <div>
      <dt>Signature</dt>
      <dd>
        {state === "bad" && "Bad: the key has not signed this commit."}
        {by !== undefined && (
          <>
            Verified: signed by <AccountName {...place} name={by} />.
          </>
        )}
        {state === "amended" && "Signed, but what is shown here has been amended since."}
        {state === "unknown" &&
          `Signed with ${FORMS[kind]}${
            kind === "ssh" ? ", which no account here has." : ", which is not checked here."
          }`}
        {fingerprint !== undefined && (
          <>
            {" "}
            <span class="mono small soft">{fingerprint}</span>
          </>
        )}
      </dd>
    </div>
  );
}
