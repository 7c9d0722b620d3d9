import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from './client.ts'
import type { OvsdbClientOptions } from './client-options.ts'
import type { ClientState } from './client-state.ts'

const tables = {
  Logical_Switch: { indexes: ['name', 'ports', 'external_ids:owner'] },
  Logical_Switch_Port: {
    columns: ['name', 'addresses', 'tag', 'external_ids'],
    indexes: ['name', 'external_ids:owner'],
  },
  NB_Global: {},
} as const

/** A client of one server that soon tries again. */
export function openClient(
  server: { readonly address: string },
  options: Partial<OvsdbClientOptions<OvnNorthbound>> = {},
): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [server.address],
    schema: ovnNorthboundSchema,
    tables,
    backoff: { initialMs: 10, maxMs: 200, factor: 2, jitter: 0 },
    ...options,
  })
}

/** A client that is in a hurry to find out what is wrong, for tests with clusters that fall apart. */
export function openRaftClient(
  options: Partial<OvsdbClientOptions<OvnNorthbound>> & { readonly endpoints: readonly string[] },
): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch: { columns: ['name'], indexes: ['name'] }, NB_Global: {} },
    inactivityProbeMs: 500,
    backoff: { initialMs: 20, maxMs: 500, factor: 2, jitter: 0.5 },
    ...options,
  })
}

/** Resolves the next time that the client gets to a phase. */
export function nextPhase(
  client: OvsdbClient<OvnNorthbound>,
  wanted: ClientState['phase'],
): Promise<ClientState> {
  return new Promise((resolve) => {
    const subscription = client.onState((state) => {
      if (state.phase !== wanted) return
      subscription[Symbol.dispose]()
      resolve(state)
    })
  })
}
