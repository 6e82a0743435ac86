/**
 * Answers in the form that a client asks for: which one that is, and what an answer or a watch becomes in it.
 */
import type { Cluster, Request, Response, Watch, WatchLine } from "./cluster.ts"
import { find } from "./model.ts"
import { formOf, lineShaper, PLAINLY, shaped, type Include } from "./table.ts"
import { targetOf } from "./verbs.ts"

type Asked = Pick<Request, "path" | "query" | "accept">

/** The answer as it was asked for; one that is no object of a kind stays as it is. `at`: what ages are counted to. */
export const formed = (cluster: Cluster, asked: Asked, answer: Response, at: number): Response => {
  const target = targetOf(asked.path)
  const resource = target && find(cluster, target.group, target.version, target.plural)
  const form = formOf(asked.accept)
  const plainly = resource === undefined || target?.subresource === "scale" || answer.code >= 400
  if (plainly || form === undefined) return answer
  const body = shaped({ ...form, include: includeOf(asked), resource, at }, answer.body)
  return { ...answer, code: codeOf(body) ?? answer.code, body }
}

/** Makes the lines of one watch what was asked for; undefined where a line can't be told so. */
export const formedLines = (
  asked: Asked,
  { resource }: Watch
): ((line: WatchLine, at: number) => WatchLine | undefined) =>
  lineShaper({ ...(formOf(asked.accept) ?? PLAINLY), include: includeOf(asked), resource })

const includeOf = ({ query }: Asked): Include => {
  const value = query["includeObject"]
  return value === "Object" || value === "None" ? value : "Metadata"
}

/** What is told as a failure is one, whatever was done. */
const codeOf = (body: unknown): number | undefined => {
  const { kind, status, code } = (body ?? {}) as {
    readonly kind?: unknown
    readonly status?: unknown
    readonly code?: number
  }
  return kind === "Status" && status === "Failure" ? code : undefined
}
