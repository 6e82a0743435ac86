/**
 * What kubectl said, without what no two clusters have in common: the whole list of it.
 */
import type { Said } from "../kubectl.ts"

/** What is replaced, by what; in this order. */
const ASIDE: readonly (readonly [RegExp, string])[] = [
  // uids
  [/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  // times and ages
  [/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, "<time>"],
  [/\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(?<=^|\s|\()(?:\d+[smh])+(?=$|\s|\))/gm, "<age>"],
  // revisions
  [/(resource ?version"?: *)"?\d+"?/gi, "$1<revision>"],
  // addresses
  [/\b10\.\d+\.\d+\.\d+\b/g, "<address>"],
  // the head of a line of kubectl's own log
  [/^([IWE])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, "$1 "],
  // files of kubectl's own
  [/\/tmp\/(LIVE|MERGED|kubectl-edit)-\d+/g, "/tmp/$1-<number>"],
  // an object quoted in a message, whose fields have no order
  [/(patch: Invalid value: )"\{.*\}"(?=: )/g, "$1<object>"],
  // the hash of a template in a ReplicaSet's name, and what is generated after that: the embedded cluster has a hash of its own
  [/\b(echo-(?:north|south))-[0-9a-z]{6,10}-[0-9a-z]{5}\b/g, "$1-<hash>-<pod>"],
  [/\b(echo-(?:north|south))-[0-9a-z]{6,10}\b/g, "$1-<hash>"],
  [/\b(endpointslice\.discovery\.k8s\.io\/echo-svc)-[0-9a-z]{5}\b/g, "$1-<name>"],
  [/\b(pod-template-hash[=:] ?)[0-9a-z]+/g, "$1<hash>"],
  // the width of columns
  [/(?<=\S) {2,}/g, "  "],
  [/[ \t]+$/gm, ""]
]

export const heard = ({ stdout, stderr, code }: Said): Said => ({
  stdout: settled(stdout),
  stderr: settled(stderr),
  code
})

const settled = (text: string): string =>
  ASIDE.reduce((kept, [what, instead]) => kept.replaceAll(what, instead), text)
