import { spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestNamespace } from '@kube-ovn/testing-net'

/** Why tests with GoBGP can not run here; `undefined` when they can. */
export function missingForGobgp(): string | undefined {
  const { error } = spawnSync('gobgpd', ['--version'])
  return error === undefined ? undefined : 'no gobgpd; npm test builds it'
}

export interface GobgpNeighbor {
  readonly address: string
  readonly as: number
  readonly isPassive?: boolean
  readonly password?: string
  readonly families?: readonly ('ipv4' | 'ipv6')[]
  readonly multihopTtl?: number
  readonly gracefulRestart?: boolean
  /** Most prefixes that it takes of IPv4. */
  readonly prefixLimit?: number
  /** To dial on. */
  readonly remotePort?: number
  /** Watches it by BFD, three packets of that distance. */
  readonly bfdMs?: number
}

export interface GobgpOptions {
  readonly as: number
  readonly routerId: string
  readonly neighbors: readonly GobgpNeighbor[]
  /** -1 for none. */
  readonly port?: number
}

/** A route as GoBGP has it. */
export interface GobgpRoute {
  readonly prefix: string
  readonly nextHop: string
  readonly isStale: boolean
  readonly asPath: readonly number[]
  readonly communities: readonly number[]
  /** As `65000:1:2`. */
  readonly largeCommunities: readonly string[]
  readonly localPreference: number | undefined
  readonly med: number | undefined
}

/** A GoBGP in a namespace: a router that somebody else wrote. */
export class Gobgp implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'gobgp-'))
  readonly #process: ChildProcess
  readonly #namespace: TestNamespace

  constructor(namespace: TestNamespace, options: GobgpOptions) {
    this.#namespace = namespace
    const path = join(this.#directory, 'gobgpd.json')
    writeFileSync(path, JSON.stringify(configurationOf(options)))
    this.#process = namespace.start('gobgpd', '-f', path, '-t', 'json', '--api-hosts', '127.0.0.1:50051')
  }

  /** Runs a command of gobgp, and reads what it prints. */
  ask(...command: readonly string[]): unknown {
    const text = this.#namespace.run('gobgp', '-j', ...command)
    return text.trim() === '' ? [] : JSON.parse(text)
  }

  /** What it has been told, by prefix. */
  routes(family: 'ipv4' | 'ipv6'): ReadonlyMap<string, GobgpRoute> {
    const answer = this.ask('global', 'rib', '-a', family) as Record<string, readonly Path[]>
    const routes = Object.entries(answer).flatMap(([prefix, [path]]): [string, GobgpRoute][] => {
      if (path === undefined) return []
      const { attrs, stale = false } = path
      const nextHop = attrs.find(({ nexthop }) => nexthop !== undefined)?.nexthop ?? ''
      const asPath = attrs.find(({ as_paths: paths }) => paths !== undefined)?.as_paths ?? []
      const route = {
        ...{ prefix, nextHop, isStale: stale, asPath: asPath.flatMap(({ asns }) => asns ?? []) },
        communities: attrs.find(({ communities }) => communities !== undefined)?.communities ?? [],
        largeCommunities: largeCommunitiesOf(attrs.find(({ type }) => type === attribute.large)?.value),
        localPreference: numberOf(attrs.find(({ type }) => type === attribute.localPreference)?.value),
        med: attrs.find(({ type }) => type === attribute.med)?.metric,
      }
      return [[prefix, route]]
    })
    return new Map(routes)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** Ends it as power does. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exited
  }
}

interface Path {
  readonly stale?: boolean
  readonly attrs: readonly {
    readonly nexthop?: string
    readonly as_paths?: readonly { readonly asns?: readonly number[] }[]
    readonly communities?: readonly number[]
    readonly type?: number
    readonly metric?: number
    readonly value?: unknown
  }[]
}

/** Types of attributes whose values are named alike. */
const attribute = { med: 4, localPreference: 5, large: 32 } as const

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function largeCommunitiesOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((one: object) => Object.values(one).join(':')) : []
}

function configurationOf({ as, routerId, neighbors, port = 179 }: GobgpOptions): object {
  return {
    global: { config: { as, 'router-id': routerId, port } },
    neighbors: neighbors.map(
      ({ address, as, isPassive = false, password, families = ['ipv4', 'ipv6'], ...more }) => ({
        config: {
          'neighbor-address': address,
          'peer-as': as,
          ...(password && { 'auth-password': password }),
        },
        transport: { config: { 'passive-mode': isPassive, 'remote-port': more.remotePort ?? 179 } },
        timers: {
          config: {
            'connect-retry': 1,
            // Longer than a machine with much to do keeps either end from its turn.
            'hold-time': 60,
            'keepalive-interval': 20,
            'idle-hold-time-after-reset': 1,
          },
        },
        ...(more.bfdMs && {
          bfd: {
            config: {
              ...{ enabled: true, port: 3784, 'detection-multiplier': 3 },
              'desired-minimum-tx-interval': more.bfdMs * 1000,
              'required-minimum-receive': more.bfdMs * 1000,
            },
          },
        }),
        ...(more.multihopTtl && {
          'ebgp-multihop': { config: { enabled: true, 'multihop-ttl': more.multihopTtl } },
        }),
        ...(more.gracefulRestart && {
          'graceful-restart': { config: { enabled: true, 'restart-time': 20 } },
        }),
        'afi-safis': families.map((family) => ({
          config: { 'afi-safi-name': `${family}-unicast` },
          ...(more.gracefulRestart && { 'mp-graceful-restart': { config: { enabled: true } } }),
          ...(more.prefixLimit && family === 'ipv4'
            ? { 'prefix-limit': { config: { 'max-prefixes': more.prefixLimit } } }
            : {}),
        })),
      }),
    ),
  }
}
