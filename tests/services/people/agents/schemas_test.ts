import assert from "node:assert/strict";
import fc from "fast-check";
import {
  adoptionSchema,
  personSchema,
  registrationSchema,
} from "../../../../services/people/agents/schemas.ts";
import { anyCharacter } from "../../../support/any_character.ts";

Deno.test("a nick has 1 to 64 characters of IRC's set and begins with no digit or hyphen", () => {
  const valid = ["a", "Z", "[bot]", "a-1", "_", "x".repeat(64), "`^{|}\\"];
  const invalid = ["", "1a", "-a", "a b", "a\n", "é", "a.b", "#a", "a,b", "x".repeat(65), "\u212a"];
  const accepts = (nick: string) => registrationSchema.safeParse({ nick }).success;
  assert.deepEqual(valid.filter((nick) => !accepts(nick)), []);
  assert.deepEqual(invalid.filter(accepts), []);
});

Deno.test("channels come with or without #, keep their case, and are listed once", () => {
  const { channels, type } = adoptionSchema.parse({
    channels: ["Dev", "#dEV", "##x", "#Dev", "ünï"],
  });
  assert.deepEqual(channels, ["#Dev", "##x", "#ünï"]);
  assert.equal(type, "worker");
  const invalid = ["", "#", "a b", "a,b", "a\u0007", "a\u0085", "\ud800", "x".repeat(80)];
  const accepts = (name: string) => adoptionSchema.safeParse({ channels: [name] }).success;
  assert.deepEqual(invalid.filter(accepts), []);
  assert.ok(accepts("x".repeat(79)) && accepts(`#${"x".repeat(79)}`));
});

Deno.test("normalising twice changes nothing", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: anyCharacter, maxLength: 5 }), { maxLength: 5 }),
      (channels) => {
        const once = adoptionSchema.safeParse({ channels });
        if (once.success) assert.deepEqual(adoptionSchema.parse(once.data), once.data);
      },
    ),
  );
});

Deno.test("every way of logging in can carry a valid password", () => {
  const accepts = (password: string) =>
    personSchema.safeParse({ account: "ann", password }).success;
  assert.ok(accepts("correct horse") && accepts("pässwörd 🐎") && accepts("x".repeat(1024)));
  for (const password of ["with\0nul", "line\nbreak", "x".repeat(1025)]) {
    assert.ok(!accepts(password));
  }
});
