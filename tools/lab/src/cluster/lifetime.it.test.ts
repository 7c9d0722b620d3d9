import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { listContainers } from '../docker/container.ts'
import { listNetworks } from '../docker/network.ts'
import { eventually } from '../kubernetes/wait.ts'
import { cache } from '../paths.ts'
import { createCluster } from './cluster.ts'
import { removeLab } from './leftovers.ts'

const ids = {
  interrupted: `int-${process.pid}`,
  killed: `kill-${process.pid}`,
  early: `early-${process.pid}`,
  kept: `kept-${process.pid}`,
  left: `left-${process.pid}`,
  right: `right-${process.pid}`,
}

/** On a machine with other things to do. */
const patience = { timeoutMs: 120_000 } as const

const started: ChildProcess[] = []

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all(Object.values(ids).map(removeLab))
})

/** What there is of a lab on this machine: its networks and machines, which hold all of its namespaces, and their files. */
async function tracesOf(id: string): Promise<readonly string[]> {
  const label = `kube-ovn.lab=${id}`
  const [containers, networks] = await Promise.all([listContainers(label), listNetworks(label)])
  return [
    ...containers.flatMap(({ Names }) => Names),
    ...networks.map(({ Name }) => Name),
    ...[join(cache, 'machines', id)].filter((path) => existsSync(path)),
  ]
}

/** Starts to bring a lab up, until so many of its networks and machines are there. */
async function startLab(id: string, parts: number, verb = 'run'): Promise<ChildProcess> {
  const main = join(import.meta.dirname, '../main.ts')
  const child = spawn(process.execPath, [main, verb, '--id', id, '--nodes', '1', '--cni', 'bridge'], {
    stdio: 'ignore',
  })
  started.push(child)
  const label = `kube-ovn.lab=${id}`
  await eventually(
    `${parts} parts of ${id} are there`,
    async () => {
      const found = await Promise.all([listNetworks(label), listContainers(label)])
      return found.flat().length >= parts || child.exitCode !== null ? true : undefined
    },
    { ...patience, pauseMs: 20 },
  )
  expect(child.exitCode).toBeNull()
  return child
}

it.each([1, 3, 5])(
  'leaves nothing when it is interrupted with %i of two networks and three machines there',
  async (parts) => {
    const child = await startLab(ids.interrupted, parts)
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(await tracesOf(ids.interrupted)).toEqual([])
  },
  240_000,
)

it.each([
  { name: 'is killed', id: ids.killed, parts: 5, verb: 'run' },
  { name: 'is killed when there are only networks', id: ids.early, parts: 2, verb: 'run' },
  { name: 'is killed before what is to be kept is complete', id: ids.kept, parts: 5, verb: 'up' },
])(
  'leaves nothing when its process $name',
  async ({ id, parts, verb }) => {
    const child = await startLab(id, parts, verb)
    expect(await tracesOf(id)).not.toEqual([])
    child.kill('SIGKILL')
    const left = await eventually(
      'the reaper has removed the lab',
      async () => {
        const traces = await tracesOf(id)
        return traces.length === 0 ? traces : undefined
      },
      patience,
    )
    expect(left).toEqual([])
  },
  240_000,
)

it('has labs side by side, each with addresses of its own, and one goes without the other', async () => {
  const [left, right] = await Promise.all(
    [ids.left, ids.right].map((id) => createCluster({ id, nodes: 1, podNetwork: 'bridge' })),
  )
  if (left === undefined || right === undefined) return expect.unreachable()
  await using stays = right
  {
    await using goes = left
    expect(goes.blocks.own).not.toBe(stays.blocks.own)
    expect(goes.nodes[0]?.kubernetes.ipv4).not.toBe(stays.nodes[0]?.kubernetes.ipv4)
    await Promise.all([goes, stays].map(({ api, topology }) => api.apply(namespace(topology.id))))
  }
  expect(await tracesOf(left.topology.id)).toEqual([])
  const namespaces = await stays.api.list('/api/v1/namespaces')
  const names = namespaces.map(({ metadata }) => metadata.name)
  expect(names).toContain(stays.topology.id)
  expect(names).not.toContain(left.topology.id)
})

function namespace(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}
