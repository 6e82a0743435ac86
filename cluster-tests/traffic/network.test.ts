/** Networks of nodes on this machine: they don't meet, and they leave nothing behind. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished } from "vitest"
import { until } from "../deadline.ts"
import { testUnless } from "../skip.ts"
import { Agent } from "./agents.ts"
import { type Network, network, type NodeNetwork } from "./network.ts"
import { obstacleToNetworks } from "./obstacle.ts"

const networkTest = (name: string, body: () => Promise<void>): void =>
  testUnless(obstacleToNetworks(), name, body, 60_000)

describe("network", () => {
  networkTest("lets a node reach a pod on another, and refuses one that has gone", async () => {
    const { nodes } = await opened(["one", "two"])
    const [one, two] = [agent(nodes.get("one")), agent(nodes.get("two"))]
    await two.serve(two.node.pod(10), "echo two")
    const url = `http://${two.node.pod(10)}:8080/`
    expect(await one.get(url)).toEqual({ code: 200, body: "echo two" })
    await two.leave(two.node.pod(10))
    expect((await one.ask(url, 20)).map(({ failure }) => failure)).toEqual(Array(20).fill("EHOSTUNREACH"))
  })

  networkTest("keeps two networks at once apart", async () => {
    const [first, second] = [await opened(["one"]), await opened(["one"])]
    expect(first.address).not.toBe(second.address)
    const [mine, theirs] = [agent(first.nodes.get("one")), agent(second.nodes.get("one"))]
    await mine.serve(mine.node.pod(10), "mine")
    await theirs.serve(theirs.node.pod(10), "theirs")
    expect((await mine.get(`http://${mine.node.pod(10)}:8080/`)).body).toBe("mine")
    await expect(mine.get(`http://${theirs.node.address}:8080/`)).rejects.toThrow(
      /EHOSTUNREACH|TimeoutError|abort/
    )
  })

  networkTest("cuts nodes off from this machine, not from each other", async () => {
    const net = await opened(["one", "two"])
    const server = createServer((_, response) => response.end("here"))
    await new Promise<void>((resolve) => server.listen(0, net.address, resolve))
    onTestFinished(() => void server.close())
    const [one, two] = [agent(net.nodes.get("one")), agent(net.nodes.get("two"))]
    await two.serve(two.node.pod(10), "echo two")
    const here = `http://${net.address}:${(server.address() as AddressInfo).port}/`
    expect((await one.get(here)).body).toBe("here")
    await net.cut()
    await expect(one.get(here)).rejects.toThrow(/abort|EHOSTUNREACH/)
    expect((await one.get(`http://${two.node.pod(10)}:8080/`)).body).toBe("echo two")
    await net.heal()
    await until(
      { what: "an answer after healing", seconds: 20 },
      async () => (await one.get(here)).code === 200
    )
  })

  networkTest("ends with its maker, also when that is killed", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "network.ts"))
    const text = `const net = await (await import(${module})).network(["one"]); console.log(net.address); setInterval(() => {}, 1000)`
    const maker = spawn(process.execPath, ["--input-type=module", "-e", text], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    onTestFinished(() => void maker.kill("SIGKILL"))
    const [said] = (await Promise.race([once(maker.stdout, "data"), once(maker, "exit")])) as [
      Buffer | number
    ]
    const device = `/sys/class/net/sg${said.toString().split(".")[2] ?? ""}`
    expect(existsSync(device)).toBe(true)
    maker.kill("SIGKILL")
    await until({ what: `the end of ${device}`, seconds: 20 }, () => !existsSync(device))
  })
})

const opened = async (names: readonly string[]): Promise<Network> => {
  const net = await network(names)
  onTestFinished(() => net.end())
  return net
}

const agent = (node: NodeNetwork | undefined): Agent => {
  if (node === undefined) throw new Error("there is no such node")
  const folder = mkdtempSync(join(tmpdir(), "servicegroup-agent-"))
  const made = new Agent(node, folder)
  onTestFinished(async () => {
    await made.end()
    rmSync(folder, { recursive: true })
  })
  return made
}
