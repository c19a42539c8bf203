/** A hostile pusher: each attempt is refused with a sentence, and nothing of it stays. */
import type { Artifact } from "../../../../services/engines/fossil/mod.ts";
import {
  type Attempt,
  deltaOf,
  fileOf,
  hashOf,
  hostile,
  starting,
  tag,
} from "../../../support/hostile_pusher.ts";

hostile("hostile pushes: forged users", (scene) => {
  const { now: date, feature } = scene;
  const user = "other";
  const common = { date, user, mimetype: null, comment: null };
  const title = { name: "title", value: "x", append: false };
  const ticket = { kind: "ticket", date, user, ticket: "a".repeat(40), fields: [title] } as const;
  const post = { kind: "forum", root: null, title: "T", inReplyTo: null, text: "t" } as const;
  const forged: Readonly<Record<string, Artifact>> = {
    checkin: scene.checkin(feature, { user }),
    tag: { kind: "control", date, user, tags: [tag("+", "sym-v1", feature)] },
    wiki: { kind: "wiki", ...common, title: "Home", parents: [], text: "hi" },
    ticket,
    technote: {
      kind: "technote",
      ...common,
      id: "b".repeat(40),
      eventDate: date,
      parents: [],
      tags: [],
      text: "",
    },
    attachment: { kind: "attachment", ...common, name: "a", target: "Home", source: null },
    forum: { ...post, date, user, mimetype: null, parents: [] },
  };
  const refusal = /names the user "other", but "caller" pushes it: only admins/;
  const attempts = Object.entries(forged).map(([name, artifact]): Attempt => (
    { name, refusal, cards: [fileOf(artifact)] }
  ));
  const login = { name: "login", value: user, append: false };
  const comment: Artifact = { ...ticket, user: "caller", fields: [login] };
  return [
    ...attempts,
    {
      name: "no user",
      refusal: /names no user/,
      cards: [fileOf(scene.checkin(feature, { user: null }))],
    },
    { name: "comment of another", refusal: /A comment in .* "other"/, cards: [fileOf(comment)] },
    {
      name: "tag user",
      refusal: /changes who wrote it/,
      cards: [fileOf(scene.control(tag("+", "user", feature, user)))],
    },
    {
      name: "own tag user",
      refusal: /changes who wrote it/,
      cards: [fileOf(scene.checkin(feature, { tags: [tag("*", "user", null, user)] }))],
    },
    {
      name: "a forged one among honest ones",
      refusal,
      refused: hashOf(forged["wiki"]!),
      cards: [fileOf(scene.checkin(feature)), fileOf(forged["wiki"]!)],
    },
  ];
});

hostile("hostile pushes: protected branches", (scene) => {
  const { trunk, feature } = scene;
  const CLOSED =
    /to the branch "trunk" is refused: only admins can push to it: commit to a workspace/;
  const cards = (...artifacts: readonly Artifact[]) => artifacts.map(fileOf);
  const absent = scene.checkin(trunk, { comment: "absent" });
  const source = new TextEncoder().encode("a text that is sent later\n".repeat(20));
  const onTrunk = scene.checkin(trunk, { comment: "on trunk ".repeat(50) });
  type Row = readonly [string, RegExp, Attempt["cards"], Attempt["before"]?, string?];
  const attempts: readonly Row[] = [
    ["direct", CLOSED, cards(scene.checkin(trunk))],
    ["by its own card", CLOSED, cards(scene.checkin(feature, { tags: starting("trunk") }))],
    ["without a parent", CLOSED, cards(scene.checkin(null))],
    [
      "by a cancelled branch",
      CLOSED,
      cards(scene.checkin(feature, {
        tags: [tag("-", "branch", null)],
      })),
    ],
    ["by moving", CLOSED, cards(scene.control(tag("*", "branch", feature, "trunk")))],
    [
      "by a move of the past",
      CLOSED,
      cards({
        ...scene.control(tag("*", "branch", feature, "trunk")),
        date: 0,
      } as Artifact),
    ],
    ["away from it", CLOSED, cards(scene.control(tag("*", "branch", trunk, "feature")))],
    [
      "by a parent",
      /sets the tag "parent"/,
      cards(
        scene.control(tag("+", "parent", feature, trunk)),
      ),
    ],
    [
      "before its parent",
      /which is neither in the project nor in this push/,
      cards(scene.checkin(hashOf(absent))),
    ],
    ["phantom first", CLOSED, cards(absent), [[{
      kind: "igot",
      hash: hashOf(absent),
      isPrivate: false,
    }]]],
    ["in a cluster first", CLOSED, cards(onTrunk), [
      cards({ kind: "cluster", members: [hashOf(onTrunk)] }),
    ]],
    ["closing it", CLOSED, cards(scene.control(tag("+", "closed", trunk)))],
    ["hiding it", CLOSED, cards(scene.control(tag("*", "hidden", trunk)))],
    [
      "its name",
      /which is the name of a branch/,
      cards(
        scene.control(tag("+", "sym-trunk", feature)),
      ),
    ],
    [
      "its inherited name",
      /keeps the name of a branch/,
      cards(scene.checkin(trunk, {
        tags: starting("sly"),
      })),
    ],
    ["its name taken away", CLOSED, cards(scene.control(tag("-", "sym-trunk", trunk)))],
    [
      "a similar name",
      /too similar to the protected branch/,
      cards(scene.checkin(feature, {
        tags: starting("Trunk", "feature"),
      })),
    ],
    [
      "an invisible character",
      /its value of the tag branch must be one line/,
      cards(scene.checkin(feature, {
        tags: starting("trunk\u200b", "feature"),
      })),
    ],
    [
      "a new protected branch",
      /"release\/1" is refused/,
      cards(scene.checkin(feature, {
        tags: starting("release/1", "feature"),
      })),
    ],
    [
      "a tag that is a place",
      /names a check-in in another way|may be the beginning of a hash/,
      cards(
        scene.control(tag("+", "sym-tip", feature)),
      ),
    ],
    [
      "a tag that is a hash",
      /names a check-in in another way|may be the beginning of a hash/,
      cards(
        scene.control(tag("+", `sym-${trunk.slice(0, 10)}`, feature)),
      ),
    ],
    [
      "delta, its source in the same push",
      CLOSED,
      [deltaOf(onTrunk, source), fileOf(source)],
      [],
      hashOf(onTrunk),
    ],
    [
      "landing candidate",
      /only the landing queue/,
      cards(scene.checkin(feature, {
        tags: starting("landing/1", "feature"),
      })),
    ],
    [
      "a far date",
      /a date in the future/,
      cards(scene.checkin(feature, {
        date: scene.now + 6 * 60_000,
      })),
    ],
    [
      "a far date by tag",
      /in the future, or is none/,
      cards(
        scene.control(tag("+", "date", feature, "9999-12-31T00:00:00")),
      ),
    ],
    [
      "a reserved tag",
      /reserved tag "wiki-Home"/,
      cards(
        scene.control(tag("+", "wiki-Home", feature)),
      ),
    ],
    [
      "a tag on nothing",
      /names f{64}, which is neither in the project/,
      cards(
        scene.control(tag("+", "note", "f".repeat(64))),
      ),
    ],
  ];
  return attempts.map(([name, refusal, cards = [], before = [], refused]) => (
    { name, refusal, cards, before, ...refused === undefined ? {} : { refused } }
  ));
});

hostile("hostile pushes: workspaces of others", (scene) => {
  const { feature, mine, others, lost } = scene;
  const OTHERS = /"workspace\/others" is refused: Only the owning agent .* belongs to "other"/;
  const attempts: readonly (readonly [string, RegExp, ...Artifact[]])[] = [
    ["commit", OTHERS, scene.checkin(others)],
    ["close", OTHERS, scene.control(tag("+", "closed", others))],
    ["close by a check-in", OTHERS, scene.checkin(feature, { tags: [tag("+", "closed", others)] })],
    ["move", OTHERS, scene.control(tag("*", "branch", others, "feature"))],
    ["merge", OTHERS, scene.checkin(feature, { parents: [feature, others] })],
    ["amend", OTHERS, scene.control(tag("+", "comment", others, "mine"))],
    ["enter by card", OTHERS, scene.checkin(mine, { tags: starting("workspace/others") })],
    [
      "a lapsed fence",
      /"workspace\/lost" is refused: "other" holds the claim of this ticket \(generation 2/,
      scene.checkin(lost),
    ],
    [
      "a workspace that does not exist",
      /there is no active workspace of this name/,
      scene.checkin(feature, { tags: starting("workspace/none", "feature") }),
    ],
    [
      "a second line of the own one",
      /begins a second line/,
      scene.checkin(feature, { tags: starting("workspace/mine", "feature") }),
    ],
    [
      "moving into the own one",
      /belongs to a workspace/,
      scene.control(tag("*", "branch", feature, "workspace/mine")),
    ],
  ];
  return attempts.map(([name, refusal, ...artifacts]) => (
    { name, refusal, cards: artifacts.map(fileOf) }
  ));
});
