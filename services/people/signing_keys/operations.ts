import { z } from "zod";
import { GitError, parseSshKey, type SshKey } from "../../engines/git/mod.ts";
import { Conflict, Forbidden, Invalid, NotFound } from "../../kernel/errors.ts";
import { asLine, isVisible } from "../../kernel/words.ts";
import { type Account, type AccountDirectory, mayDo, type Principal } from "../identity/mod.ts";
import { Created, serverOperation } from "../identity/server_operation.ts";
import { MAX_NAME, signingKeySchema } from "./schemas.ts";
import type { SigningKeys } from "./signing_keys.ts";

/** What the operations on keys call. */
interface KeyServices {
  readonly signingKeys: SigningKeys;
  readonly accounts: AccountDirectory;
}

const viewSchema = z.object({
  id: z.string(),
  owner: z.string(),
  name: z.string(),
  fingerprint: z.string().meta({ example: "SHA256:WNIdAcn3vvHYzIU0F2gaGkD8wiX1pqnrNhuxIgoRkg4" }),
  key: z.string(),
  created_at: z.iso.datetime(),
}).meta({ id: "SigningKey" });

export const listSigningKeys = serverOperation(
  {
    http: "GET /v1/signing-keys",
    on: "account",
    summary: "List the SSH keys that sign your commits; the operator sees those of all accounts",
    input: z.object({}),
    ok: { schema: z.array(viewSchema), description: "The keys, oldest first" },
    cli: {
      at: "key list",
      about: "list the SSH keys that sign commits",
      columns: ["id", "owner", "name", "fingerprint"],
    },
  },
  ({ signingKeys }: KeyServices, _input, { caller: { principal } }) =>
    signingKeys.list(ownerIdOf(principal)),
);

export const addSigningKey = serverOperation({
  http: "POST /v1/signing-keys",
  on: "account",
  summary: "Add an SSH key that signs your commits",
  description: "Commits that it has signed (`gpg.format=ssh`) are shown as verified. Keys of the " +
    "types ed25519, ecdsa, sk-ed25519, sk-ecdsa, and rsa of 2048 bits or more; an account has " +
    "at most 20, and no two have the same.",
  input: signingKeySchema,
  bodyName: "SigningKeyRequest",
  example: {
    key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBXM/+t4F6/XnIsggLvL25ZDTuXwAXtoKp8NyORbnvC6 laptop",
    owner: "scout",
  },
  created: { schema: viewSchema, description: "The key" },
  refusals: [{ error: NotFound }, { error: Conflict }],
  cli: {
    at: "key add <key...>",
    about: "add an SSH key that signs commits",
    options: { owner: { flags: "--owner <name>", about: "the account that it belongs to" } },
    says: "{fingerprint}",
    examples: [{
      line: 'key add --owner scout "$(cat ~/.ssh/id_ed25519.pub)"',
      purpose: "Show what scout signs as verified",
    }],
  },
}, async (services: KeyServices, { key: text, name, owner: named }, { caller }) => {
  const owner = ownerFor(services, caller.principal, named);
  const { fingerprint, line: key, comment } = parsed(text);
  const line = asLine(comment).slice(0, MAX_NAME).toWellFormed();
  const label = name ?? (isVisible(line) ? line : fingerprint);
  const { signingKeys } = services;
  return new Created(await signingKeys.add({ owner, name: label, fingerprint, key }, caller));
});

export const removeSigningKey = serverOperation(
  {
    http: "DELETE /v1/signing-keys/{id}",
    on: "account",
    summary: "Remove an SSH key: what it has signed is no longer verified",
    input: z.object({ id: z.string() }),
    done: "Removed",
    refusals: [{ error: NotFound }],
    cli: {
      at: "key remove <id>",
      about: "remove an SSH key that signs commits",
      aliases: ["delete"],
    },
  },
  ({ signingKeys }: KeyServices, { id }, { caller }) =>
    signingKeys.remove(id, ownerIdOf(caller.principal), caller),
);

/** Whose keys a caller sees and removes; null for those of all accounts. */
function ownerIdOf(principal: Principal): string | null {
  if (principal.kind === "operator") return null;
  if (principal.id === null) throw new Forbidden("Only an account has signing keys");
  return principal.id;
}

function ownerFor(
  { accounts }: KeyServices,
  principal: Principal,
  named: string | undefined,
): Account {
  const own = principal.id === null ? null : accounts.get(principal.id);
  if (named === undefined) {
    if (own === null) throw new Invalid('"owner" must name the account of the key');
    return own;
  }
  const owner = accounts.find(named);
  if (owner?.id === own?.id && own !== null) return own;
  if (!mayDo(principal, "write", { kind: "server" })) {
    throw new Forbidden("Only the operator and admins add a key of another account");
  }
  if (owner === null) throw new NotFound(`There is no account "${named}"`);
  return owner;
}

function parsed(line: string): SshKey {
  try {
    return parseSshKey(line);
  } catch (error) {
    throw error instanceof GitError ? new Invalid(error.message) : error;
  }
}
