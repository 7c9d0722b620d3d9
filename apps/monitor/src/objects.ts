import type { OvnNorthbound, OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import type { NorthboundReading, SouthboundReading, SwitchPortReading } from '@kube-ovn/telemetry'

/** What is kept of a database. A table without columns is counted. */
export const northboundTables = {
  NB_Global: { columns: ['nb_cfg', 'sb_cfg', 'hv_cfg'] },
  Logical_Switch: { columns: ['name', 'ports', 'external_ids'] },
  Logical_Switch_Port: { columns: ['name', 'type', 'addresses', 'up'] },
  Logical_Router: { columns: ['enabled', 'ports'] },
  Logical_Router_Port: { columns: ['name'] },
  Logical_Router_Policy: { columns: [] },
  Logical_Router_Static_Route: { columns: [] },
  NAT: { columns: [] },
  Load_Balancer: { columns: [] },
  ACL: { columns: [] },
  Port_Group: { columns: [] },
  Address_Set: { columns: [] },
  DHCP_Options: { columns: [] },
  QoS: { columns: [] },
  BFD: { columns: [] },
} as const

export const southboundTables = {
  SB_Global: { columns: ['nb_cfg'] },
  Chassis: { columns: ['name', 'hostname', 'encaps'] },
  Chassis_Private: { columns: ['nb_cfg'] },
  Encap: { columns: ['ip'] },
  Datapath_Binding: { columns: ['tunnel_key', 'external_ids'] },
  Port_Binding: { columns: ['logical_port', 'type', 'chassis', 'datapath', 'tunnel_key'] },
} as const

/** A read-only view of the rows of a database: the cache of a client is one. */
export interface Rows<T> {
  scan<N extends keyof T & string>(table: N): Iterable<T[N]>
  get<N extends keyof T & string>(table: N, uuid: string): T[N] | undefined
  count(table: keyof T & string): number
}

type Northbound = Rows<OvnNorthbound>
type Southbound = Rows<OvnSouthbound>
type Binding = OvnSouthbound['Port_Binding']

/** What a scrape shows of the Northbound. What belongs to it in the Southbound is left out when that is not known. */
export function readNorthbound(
  northbound: Northbound,
  southbound: Southbound | undefined,
): NorthboundReading {
  const tunnelKeys = new Map(
    scan(southbound, 'Datapath_Binding').map(({ external_ids: ids, tunnel_key: key }) => [
      ids['logical-switch'],
      key,
    ]),
  )
  const switches = Iterator.from(northbound.scan('Logical_Switch'))
    .map(({ _uuid: uuid, name, ports, external_ids: externalIds }) => ({
      ...{ uuid, name, externalIds, ports },
      tunnelKey: tunnelKeys.get(uuid),
    }))
    .toArray()
  const [global] = northbound.scan('NB_Global')
  return {
    switches,
    rows: countRows(northbound, northboundTables),
    configurations:
      global === undefined
        ? new Map()
        : new Map([
            ['nb', global.nb_cfg],
            ['sb', global.sb_cfg],
            ['hv', global.hv_cfg],
          ]),
  }
}

export function readSouthbound(southbound: Southbound): SouthboundReading {
  const chassis = scan(southbound, 'Chassis').flatMap(({ _uuid: uuid, name, hostname, encaps }) => {
    const addresses = encaps.map((id) => southbound.get('Encap', id)?.ip).filter((ip) => ip !== undefined)
    // One address may have a tunnel of each type.
    return [...new Set(addresses)].map((ip) => ({ hostname, uuid, name, ip }))
  })
  return { chassis: chassis.toArray(), rows: countRows(southbound, southboundTables) }
}

/**
 * Finds what contradicts the other database, by kind: words that are the same as long as the contradiction is. For a moment, until ovn-northd has
 * followed, some always may.
 */
export function findInconsistencies(
  northbound: Northbound,
  southbound: Southbound,
): ReadonlyMap<string, ReadonlySet<string>> {
  const bindings = bindingsByPort(southbound)
  const datapaths = scan(southbound, 'Datapath_Binding').toArray()
  const ownersOfDatapaths = new Set(datapaths.map(ownerOf))
  const routers = scan(northbound, 'Logical_Router')
    // ovn-northd leaves out the others.
    .filter(({ enabled }) => enabled !== false)
    .toArray()
  const switches = scan(northbound, 'Logical_Switch').toArray()
  const owners = new Set([...routers, ...switches].map(uuidOf))
  const names = portNames(northbound, routers)
  const [{ nb_cfg: wanted } = { nb_cfg: 0 }] = southbound.scan('SB_Global')
  return new Map([
    ['switch-without-datapath', odd(switches, ({ _uuid }) => !ownersOfDatapaths.has(_uuid), uuidOf)],
    ['router-without-datapath', odd(routers, ({ _uuid }) => !ownersOfDatapaths.has(_uuid), uuidOf)],
    ['datapath-without-owner', odd(datapaths, (datapath) => !owners.has(ownerOf(datapath)), uuidOf)],
    ['port-without-binding', odd(names, (name) => !bindings.has(name), String)],
    [
      'binding-without-port',
      // A chassisredirect port is ovn-northd's own.
      odd(
        bindings.values(),
        ({ type, logical_port: name }) => type !== 'chassisredirect' && !names.has(name),
        uuidOf,
      ),
    ],
    [
      'up-without-chassis',
      odd(
        northbound.scan('Logical_Switch_Port'),
        ({ name, type, up }) => type === '' && up === true && bindings.get(name)?.chassis === undefined,
        uuidOf,
      ),
    ],
    [
      'chassis-behind',
      odd(
        southbound.scan('Chassis_Private'),
        ({ nb_cfg: done }) => done < wanted,
        // One that goes on is behind anew.
        ({ _uuid, nb_cfg: done }) => `${_uuid} ${done}`,
      ),
    ],
  ])
}

/** Of each scrape, over all ports: a loop takes a third of the time of iterator helpers. */
function odd<T>(all: Iterable<T>, isOdd: (one: T) => boolean, nameOf: (one: T) => string): Set<string> {
  const names = new Set<string>()
  for (const one of all) if (isOdd(one)) names.add(nameOf(one))
  return names
}

function portNames(
  northbound: Northbound,
  routers: readonly OvnNorthbound['Logical_Router'][],
): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { name } of northbound.scan('Logical_Switch_Port')) names.add(name)
  for (const { ports } of routers) {
    for (const id of ports) {
      const port = northbound.get('Logical_Router_Port', id)
      if (port !== undefined) names.add(port.name)
    }
  }
  return names
}

function uuidOf({ _uuid }: { readonly _uuid: string }): string {
  return _uuid
}

function ownerOf({ external_ids: ids }: OvnSouthbound['Datapath_Binding']): string {
  return ids['logical-switch'] ?? ids['logical-router'] ?? ''
}

function bindingsByPort(southbound: Southbound | undefined): ReadonlyMap<string, Binding> {
  const bindings = new Map<string, Binding>()
  for (const binding of southbound?.scan('Port_Binding') ?? []) bindings.set(binding.logical_port, binding)
  return bindings
}

/** The ports of all switches, worked out while they are gone through: there may be tens of thousands. */
export function* switchPorts(
  northbound: Northbound,
  southbound: Southbound | undefined,
): Generator<SwitchPortReading> {
  const bindings = bindingsByPort(southbound)
  for (const { _uuid: switchUuid, name: switchName, ports } of northbound.scan('Logical_Switch')) {
    for (const uuid of ports) {
      const port = northbound.get('Logical_Switch_Port', uuid)
      if (port === undefined) continue
      const found = bindings.get(port.name)
      const binding = found && {
        ...{ uuid: found._uuid, chassis: found.chassis ?? '' },
        ...{ datapath: found.datapath, tunnelKey: found.tunnel_key },
      }
      yield { uuid, name: port.name, switchUuid, switchName, ...splitAddresses(port.addresses), binding }
    }
  }
}

/** What the first of the addresses of a port says. A word, e.g. `router`, stands for both. */
export function splitAddresses(addresses: readonly string[]): { readonly mac: string; readonly ip: string } {
  const [mac = '', ...ips] = addresses[0]?.split(' ') ?? []
  return ['router', 'unknown', 'dynamic'].includes(mac) ? { mac, ip: mac } : { mac, ip: ips.join(' ') }
}

function countRows<T>(
  rows: Rows<T>,
  tables: { readonly [N in keyof T]?: unknown },
): ReadonlyMap<string, number> {
  const names = Object.keys(tables) as (keyof T & string)[]
  return new Map(names.filter((name) => !name.endsWith('_Global')).map((name) => [name, rows.count(name)]))
}

function scan<T, N extends keyof T & string>(rows: Rows<T> | undefined, table: N): IteratorObject<T[N]> {
  return Iterator.from(rows?.scan(table) ?? [])
}
