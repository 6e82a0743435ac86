/** What is said between a test and the agents in the nodes' namespaces. */

export type Order =
  /** gives the node a pod's address, and answers there */
  | { readonly _tag: "Serve"; readonly address: string; readonly answer: string }
  | { readonly _tag: "Leave"; readonly address: string }
  /** gives `times` Replies */
  | { readonly _tag: "Ask"; readonly url: string; readonly times: number }
  /** gives one Page */
  | { readonly _tag: "Get"; readonly url: string }
  /** gives one Lookup */
  | { readonly _tag: "Resolve"; readonly server: string; readonly type: RecordType; readonly name: string }
  /** asks again and again from now on, until the next Begin */
  | { readonly _tag: "Begin"; readonly url: string }
  /** gives the Replies since the last time */
  | { readonly _tag: "Tell" }

/** One request, with times in milliseconds of a clock that all processes of the machine share. */
export interface Reply {
  readonly from: number
  readonly to: number
  /** what the pod said, or undefined: then nobody answered */
  readonly answer?: string
  /** why nobody answered */
  readonly failure?: string
}

export interface Page {
  readonly code: number
  readonly body: string
}

export type RecordType = "A" | "AAAA" | "SRV" | "PTR"

/** The answer of a DNS server. */
export interface Lookup {
  /** sorted; an SRV record as `port target` */
  readonly records: readonly string[]
  /** why there are none, as Node's resolver says it: ENOTFOUND is NXDOMAIN, ENODATA is NODATA */
  readonly failure?: string
  /** when it was there */
  readonly at: number
}

export interface Numbered {
  readonly id: number
  readonly order: Order
}

export interface Done {
  readonly id: number
  readonly given?: unknown
  readonly error?: string
}

export const now = (): number => Number(process.hrtime.bigint() / 1000n) / 1000

/** Where every pod listens. */
export const PORT = 8080
