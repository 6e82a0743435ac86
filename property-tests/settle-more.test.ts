/**
 * The other half of settle.test.ts: stories of other seeds.
 */
import { describe } from "vitest"
import { STORIES, settles } from "./stories/settles.ts"

describe("control", () => {
  settles(STORIES / 2, 1)
})
