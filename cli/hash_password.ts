import { Passwords } from "../services/identity/mod.ts";
import { print } from "./output.ts";
import { readPassword } from "./passwords.ts";

/** `muster hash-password`: reads a password from standard input and prints its hash. */
export async function hashPassword(): Promise<void> {
  const password = await readPassword();
  const passwords = new Passwords();
  try {
    print(await passwords.hash(password));
  } finally {
    passwords.close();
  }
}
