import type { AclRow, PolicyRows } from './policy-rows.ts'

/** Tables that are emptied before the next world is written. */
const tables = ['Logical_Switch', 'Port_Group', 'Address_Set'] as const

/** The name of a switch is another one in each world, so that it is seen which of them is there. */
export function tracedSwitch(name: string, seed: number): string {
  return `w${seed}-${name}`
}

/** Where everybody is who has no port on a switch. */
export function outsidePort(name: string, seed: number): string {
  return `outside-${tracedSwitch(name, seed)}`
}

type Operation = Readonly<Record<string, unknown>>

/** Operations of RFC 7047 that write switches with ports of pods, groups, sets and ACLs in the place of what there was. */
export function northboundOperations(rows: PolicyRows, seed: number): readonly Operation[] {
  const inserts: Operation[] = []
  const insert = (table: string, row: Operation): readonly ['named-uuid', string] => {
    const name = `row${inserts.length}`
    inserts.push({ op: 'insert', table, row, 'uuid-name': name })
    return ['named-uuid', name]
  }
  const portRows = new Map<string, readonly ['named-uuid', string]>()
  const insertAcls = (acls: readonly AclRow[]) => [
    'set',
    acls.map(({ isAfterBalancing, ...acl }) =>
      insert('ACL', {
        ...acl,
        options: ['map', isAfterBalancing ? [['apply-after-lb', 'true']] : []],
      }),
    ),
  ]
  for (const { name, ports, acls } of rows.switches) {
    for (const port of ports.filter((one) => (rows.ports.get(one) ?? []).length > 1))
      portRows.set(
        port,
        insert('Logical_Switch_Port', {
          name: port,
          addresses: (rows.ports.get(port) ?? []).join(' '),
        }),
      )
    const outside = insert('Logical_Switch_Port', { name: outsidePort(name, seed), addresses: 'unknown' })
    const own = ports.flatMap((port) => [portRows.get(port)].filter((row) => row !== undefined))
    insert('Logical_Switch', {
      name: tracedSwitch(name, seed),
      ports: ['set', [...own, outside]],
      acls: insertAcls(acls),
    })
  }
  for (const { name, ports, acls } of rows.groups) {
    const own = ports.flatMap((port) => [portRows.get(port)].filter((row) => row !== undefined))
    insert('Port_Group', { name, ports: ['set', own], acls: insertAcls(acls) })
  }
  for (const [name, addresses] of rows.sets)
    insert('Address_Set', { name, addresses: ['set', [...new Set(addresses)]] })
  return [...tables.map((table) => ({ op: 'delete', table, where: [] })), ...inserts]
}
