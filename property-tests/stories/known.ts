/**
 * Stories that went wrong once, in their shortest form.
 */
import type { Command, Story } from "./commands.ts"
import { plain, simple } from "./words.ts"

const story = (...beats: readonly (readonly [Command, number])[]): Story => ({
  seed: 0,
  pageSize: 100,
  concurrency: 2,
  beats: beats.map(([command, steps]) => ({ command, steps }))
})

const AT_REST = 1000
const a: Command = { _tag: "AddNode", node: 1, key: "zone", value: "a" }
const b: Command = { _tag: "AddNode", node: 2, key: "zone", value: "b" }
const made: Command = { _tag: "MakeGrid", grid: 0, words: simple }

export const KNOWN: readonly { readonly name: string; readonly story: Story }[] = [
  {
    name: "a child that was met as a stranger is deleted by another controller, which asked for it without end",
    story: story(
      [a, 0],
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, grace: "5s" } }, AT_REST],
      [{ _tag: "Lag", kind: "deployments", back: 15, ms: 28_000 }, 0],
      [{ _tag: "Second" }, AT_REST],
      [{ _tag: "Unlabel", node: 1, key: "zone" }, AT_REST],
      [{ _tag: "Wait", ms: 10_000 }, AT_REST]
    )
  },
  {
    name: "a deletion heard that the namespace isn't there, and the child was taken for gone",
    story: story(
      [a, 0],
      [b, 0],
      [made, AT_REST],
      [{ _tag: "DropNode", node: 2 }, AT_REST],
      [{ _tag: "Wait", ms: 5000 }, AT_REST],
      [{ _tag: "Fail", nth: 1, trouble: "Missing" }, 0],
      [{ _tag: "Wait", ms: 30_000 }, AT_REST]
    )
  },
  {
    name: "unused templates are removed after the server was in trouble, and the grid was looked at without end",
    story: story(
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, pool: new Map([["t1", plain]]) } }, AT_REST],
      [{ _tag: "Storm", n: 3, trouble: "Internal" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Whole", change: { autoDelete: true } } }, AT_REST]
    )
  },
  {
    name: "the clock is set back an hour in the grace time of a unit, which lasted an hour longer",
    story: story(
      [a, 0],
      [b, 0],
      [made, AT_REST],
      [{ _tag: "Unlabel", node: 2, key: "zone" }, AT_REST],
      [{ _tag: "Jump", ms: -3_600_000 }, 0]
    )
  },
  {
    name: "the end of a grid is lost, and its children were made as fast as the garbage collector took them",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Lose", kind: "deploymentgrids", n: 1 }, 0],
      [{ _tag: "DeleteGrid", grid: 0, children: "collected" }, AT_REST]
    )
  },
  {
    name: "a child is deleted under a controller that sees it late",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Touch", child: 0, how: "hold" }, AT_REST],
      [{ _tag: "Kill", nth: 1, moment: "between" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Template", of: "", change: { image: 2 } } }, AT_REST]
    )
  },
  {
    name: "a child lost its owner unseen, and was deleted by what was known of it before",
    story: story(
      [a, 0],
      [b, 0],
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, grace: "5s" } }, AT_REST],
      [{ _tag: "Lag", kind: "deployments", back: 0, ms: 8000 }, 0],
      [{ _tag: "Touch", child: 1, how: "orphan" }, 0],
      [{ _tag: "Unlabel", node: 2, key: "zone" }, AT_REST],
      [{ _tag: "Wait", ms: 7000 }, AT_REST]
    )
  },
  {
    name: "a grid deletes a child whose name another grid waits for, which did not hear of it",
    story: story(
      [{ _tag: "AddNode", node: 1, key: "example.io/park", value: "a" }, 0],
      [{ _tag: "AddNode", node: 2, key: "zone", value: "edge-a" }, 0],
      [made, AT_REST],
      [{ _tag: "MakeGrid", grid: 1, words: { ...simple, key: "example.io/park" } }, AT_REST],
      [{ _tag: "Wait", ms: 150_000 }, AT_REST],
      [{ _tag: "DropNode", node: 2 }, AT_REST]
    )
  },
  {
    name: "the watch of a kind has forgotten what it missed",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Lag", kind: "nodes", back: 0, ms: 3000 }, 0],
      [b, 0],
      [{ _tag: "Expire", kind: "nodes" }, 0]
    )
  },
  {
    name: "an older state of a node is told again",
    story: story(
      [a, AT_REST],
      [{ _tag: "AddNode", node: 2, key: "example.io/park", value: "b" }, AT_REST],
      [b, AT_REST],
      [made, AT_REST],
      [{ _tag: "Repeat", kind: "nodes", back: 1 }, AT_REST]
    )
  },
  {
    name: "a key that is none keeps the children that there are",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Whole", change: { key: "a b" } } }, AT_REST]
    )
  },
  {
    name: "two grids of one name live in two namespaces",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "MakeGrid", grid: 4, words: { ...simple, template: { ...plain, image: 2 } } }, AT_REST]
    )
  },
  {
    name: "a unit is refused, and the others go on",
    story: story(
      [a, 0],
      [b, 0],
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, templates: new Map([["a", "nope"]]) } }, AT_REST]
    )
  },
  {
    name: "a grid is made again, and its successor's children stay",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "RemakeGrid", grid: 0, children: "collected" }, 3],
      [{ _tag: "Kill", nth: 1, moment: "between" }, AT_REST]
    )
  },
  {
    name: "a child that was left behind is adopted by a grid that is gone, in the eyes of a second controller",
    story: {
      ...story(
        [a, 0],
        [b, 0],
        [made, AT_REST],
        [{ _tag: "Second" }, AT_REST],
        [{ _tag: "RemakeGrid", grid: 0, children: "orphaned" }, AT_REST]
      ),
      seed: 1478728475
    }
  },
  {
    name: "a child was replaced by someone else's, which the controller has yet to see",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Lag", kind: "deployments", back: 0, ms: 8000 }, 0],
      [{ _tag: "Touch", child: 0, how: "delete" }, 0],
      [{ _tag: "Plant", grid: 0, unit: "a", how: "foreign" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Template", of: "", change: { image: 2 } } }, AT_REST]
    )
  },
  {
    name: "a child lost our label and its unit the last node, and was deleted without end",
    story: story(
      [a, 0],
      [b, 0],
      [made, AT_REST],
      [{ _tag: "Touch", child: 1, how: "strip" }, AT_REST],
      [{ _tag: "Unlabel", node: 2, key: "zone" }, AT_REST]
    )
  },
  {
    name: "unused templates could not be removed, and then need not be, and the grid was looked at without end",
    story: story(
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, pool: new Map([["t1", plain]]) } }, AT_REST],
      [{ _tag: "Fail", nth: 1, trouble: "Internal" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Whole", change: { autoDelete: true } } }, AT_REST],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Whole", change: { autoDelete: false } } }, AT_REST]
    )
  }
]
