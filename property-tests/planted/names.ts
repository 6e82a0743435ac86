/** Bugs planted in the names of a unit's pods, and in the hosts file that keeps them. */
import type { Mutant } from "./mutant.ts"

export const names: readonly Mutant[] = [
  {
    name: "a hosts file loses what someone else writes meanwhile",
    file: "src/shell/hosts-file.ts",
    from: "if (!isSame(before, await seen(files, target))) {",
    to: "if (!isSame(before, before)) {",
    caughtBy: ["hosts-file"]
  },
  {
    name: "a hosts file is written where it is read",
    file: "src/shell/hosts-file.ts",
    from: "const beside = (path: string): string => `${path}.servicegroup`",
    to: "const beside = (path: string): string => path",
    caughtBy: ["hosts-file"]
  },
  {
    name: "a hosts file loses bytes that are no text",
    file: "src/shell/hosts-file.ts",
    from: 'const ENCODING = "latin1"',
    to: 'const ENCODING = "utf8"',
    caughtBy: ["hosts-file"]
  },
  {
    name: "a hosts file's link becomes a file",
    file: "src/shell/hosts-file.ts",
    from: "const target = await followed(files, path)",
    to: "const target = path",
    caughtBy: ["hosts-file"]
  },
  {
    name: "a hosts file in place loses its end on a full disk",
    file: "src/shell/hosts-file.ts",
    from: "    await put(before).catch(() => undefined)\n",
    to: "",
    caughtBy: ["hosts-file"]
  },
  {
    name: "a hosts file has lines that CoreDNS can't read",
    file: "src/core/hosts.ts",
    from: "const LONGEST = 4000",
    to: "const LONGEST = 400_000",
    caughtBy: ["hosts"]
  },
  {
    name: "a hosts file whose mark was lost loses lines of others",
    file: "src/core/hosts.ts",
    from: "else if (!ended && !isOurs(bare)) {",
    to: "else if (false) {",
    caughtBy: ["hosts"]
  },
  {
    name: "a hosts file is not tried again",
    file: "src/shell/hosts-keeper.ts",
    from: "        bell.unsafeOpen()\n      })\n",
    to: "      })\n",
    caughtBy: ["dns"]
  },
  {
    name: "a hosts file is ready before it is written",
    file: "src/shell/hosts-keeper.ts",
    from: 'yield* readiness.waiting(path, "it was not written yet")',
    to: "yield* readiness.ready(path)",
    caughtBy: ["dns"]
  },
  {
    name: "a hosts file is emptied before grids are listed",
    file: "src/shell/dns.ts",
    from: "if (!all.every(({ synced }) => synced)) return",
    to: "if (!nodes.synced) return",
    caughtBy: ["dns"]
  },
  {
    name: "a hosts file stays as it is once its node is deleted",
    file: "src/shell/dns.ts",
    from: "last = nodes.objects[0] ?? last",
    to: "last = nodes.objects[0]",
    caughtBy: ["dns"]
  },
  {
    name: "a hosts file's missing names are complained of for ever",
    file: "src/shell/dns.ts",
    from: "told = lasting",
    to: "told = new Set()",
    caughtBy: ["dns"]
  }
]
