/** Draws the state of a large cluster again and again, in a terminal of memory, and prints how many milliseconds each time took. */
import { PassThrough, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterFacts } from '../facts.ts'
import { TopScreen } from './top-screen.ts'

const [nodeCount, podCount, subnetCount, redraws] = [200, 10_000, 500, 40] as const
/** ink draws at most thirty times a second: that wait is not ours. */
const betweenMs = 60

/** A terminal that only tells when something was written. */
class MemoryTerminal extends Writable {
  readonly isTTY = true
  readonly columns = 200
  readonly rows = 50
  bytes = 0
  #told = Promise.withResolvers<void>()

  get written(): Promise<void> {
    this.#told = Promise.withResolvers()
    return this.#told.promise
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.bytes += chunk.length
    this.#told.resolve()
    done()
  }
}

class MemoryKeyboard extends PassThrough {
  readonly isTTY = true
  setRawMode(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}

function factsWith(waiting: number): ClusterFacts {
  const ready = [{ type: 'Ready', status: 'True' }] as const
  const numbered = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index))
  const creationTimestamp = '2026-01-01T00:00:00Z'
  return {
    namespace: 'kube-system',
    nodes: numbered(nodeCount, (index) => ({
      metadata: { name: `node-${index}` },
      status: { conditions: ready },
    })),
    pods: [
      ...numbered(nodeCount * 2, (index) => {
        const app = index % 2 === 0 ? 'ovs' : 'kube-ovn-cni'
        const owner = index % 2 === 0 ? 'ovs-ovn' : 'kube-ovn-cni'
        return {
          metadata: {
            ...{ name: `${owner}-${index}`, namespace: 'kube-system', labels: { app } },
            ownerReferences: [{ kind: 'DaemonSet', name: owner, apiVersion: 'apps/v1', uid: owner }],
          },
          spec: { nodeName: `node-${index >> 1}`, hostNetwork: true, containers: [] },
          status: { phase: 'Running' as const, conditions: ready },
        }
      }),
      ...numbered(podCount, (index) => ({
        metadata: { name: `pod-${index}`, namespace: `team-${index % 100}`, creationTimestamp },
        spec: { nodeName: `node-${index % nodeCount}`, containers: [] },
        status:
          index < waiting
            ? { phase: 'Pending' as const, conditions: [] }
            : { phase: 'Running' as const, conditions: ready },
      })),
    ],
    workloads: ['ovs-ovn', 'kube-ovn-cni'].map((name) => ({
      metadata: { name, namespace: 'kube-system' },
      status: { desiredNumberScheduled: nodeCount, numberReady: nodeCount },
    })),
    lease: undefined,
    controller: undefined,
    vpcs: [],
    subnets: numbered(subnetCount, (index) => ({
      metadata: { name: `subnet-${index}` },
      spec: { cidrBlock: `10.${index >> 8}.${index & 255}.0/24` },
      status: { v4usingIPs: index % 200, v4availableIPs: 253 - (index % 200), conditions: ready },
    })),
  }
}

const terminal = new MemoryTerminal()
const stdout = terminal as unknown as NodeJS.WriteStream
const stdin = new MemoryKeyboard() as unknown as NodeJS.ReadStream
let facts = factsWith(0)
const times: number[] = []
{
  using screen = new TopScreen(() => facts, { stdout, stdin, isColoured: true })
  for (let index = 0; index < redraws; index++) {
    // Each of them changes what is to be seen: one more pod waits.
    facts = factsWith(index + 1)
    await sleep(betweenMs)
    const { written } = terminal
    const startedMs = performance.now()
    screen.refresh()
    await written
    times.push(performance.now() - startedMs)
  }
}
process.stdout.write(`${JSON.stringify({ times, bytes: terminal.bytes })}\n`)
