import { Passwords } from "../services/people/identity/mod.ts";
import type { Leaf } from "./command_line/mod.ts";
import { print } from "./output.ts";
import { readPassword } from "./passwords.ts";

/** `muster hash-password`: reads a password from standard input and prints its hash. */
async function hashPassword(): Promise<void> {
  const password = await readPassword();
  const passwords = new Passwords();
  try {
    print(await passwords.hash(password));
  } finally {
    passwords.close();
  }
}

/** `muster hash-password`. */
export const HASH_PASSWORD: Leaf = {
  examples: [
    { line: "hash-password < password.txt", purpose: "Make the hash of the password in a file" },
  ],
  run: hashPassword,
};
