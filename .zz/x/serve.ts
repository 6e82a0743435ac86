import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { parseAllDocuments } from "yaml"
import { controllers } from "../src/embedded/controllers.ts"
import { embedded } from "../src/embedded/server.ts"
Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const c = yield* embedded({ port: 18080, controllers: controllers(undefined, Number(process.argv[2] ?? 0)) })
  console.log(c.url)
  yield* Effect.never
})))
