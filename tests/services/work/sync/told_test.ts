/** What `fossil` shows of a refusal: the right address, or what a password is. */
import assert from "node:assert/strict";
import { peer } from "../../../support/peers.ts";
import { type GitTest, withGit } from "../../../support/git_door.ts";

Deno.test({
  name: "a fossil clone of another address of the project is told the right one",
  ...peer("fossil"),
  fn: () =>
    withGit(async (test) => {
      for (const place of ["/projects/demo.git", "/projects/demo.git/", "/projects/demo"]) {
        const said = await cloneByFossil(test, place);
        assert.ok(
          said.includes(`The address for fossil is ${test.origin}/projects/demo/fossil`),
          said,
        );
      }
    }),
});

Deno.test({
  name: "a fossil clone with a wrong password is told what to give",
  ...peer("fossil"),
  fn: () =>
    withGit(async (test) => {
      const place = test.origin.replace("//", "//caller:wrong@");
      const said = await cloneByFossil({ ...test, origin: place }, "/projects/demo/fossil");
      assert.match(said, /a token for the password/);
      assert.match(said, /login failed/);
    }),
});

/** What the `fossil` program says of a clone that is refused. */
async function cloneByFossil({ client, origin }: GitTest, place: string): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("fossil", {
    args: ["clone", origin + place, client.path("clone.fossil")],
    env: { HOME: client.folder, FOSSIL_HOME: client.folder, USER: "scout" },
    stdin: "null",
  }).output();
  assert.notEqual(code, 0);
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}
