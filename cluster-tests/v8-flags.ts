/** The flags for V8 in the command of manifests/controller/deployment.yaml: what is tested and measured runs as what is deployed. */
import { readFileSync } from "node:fs"
import { isSeq, parseAllDocuments } from "yaml"

const MANIFEST = new URL("../manifests/controller/deployment.yaml", import.meta.url)

export const V8_FLAGS: readonly string[] = parseAllDocuments(readFileSync(MANIFEST, "utf8")).flatMap(
  (document) => {
    const words = document.getIn(["spec", "template", "spec", "containers", 0, "command"])
    return isSeq(words) ? (words.toJSON() as string[]).filter((word) => word.startsWith("--")) : []
  }
)
if (V8_FLAGS.length === 0) throw new Error("manifests/controller/deployment.yaml names no V8 flags")
