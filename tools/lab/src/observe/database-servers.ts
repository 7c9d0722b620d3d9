/** The databases of ovn-central: their files (ovsdb(5)), where their servers take commands, and what they are called. */
export const databaseServers = {
  northbound: {
    file: '/etc/ovn/ovnnb_db.db',
    control: '/var/run/ovn/ovnnb_db.ctl',
    schema: 'OVN_Northbound',
  },
  southbound: {
    file: '/etc/ovn/ovnsb_db.db',
    control: '/var/run/ovn/ovnsb_db.ctl',
    schema: 'OVN_Southbound',
  },
} as const

export type OvnDatabase = keyof typeof databaseServers

/** The command by which a member of a raft cluster says what it knows of it. */
export function statusCommand(database: OvnDatabase): readonly string[] {
  const { control, schema } = databaseServers[database]
  return ['ovn-appctl', '--timeout=5', `--target=${control}`, 'cluster/status', schema]
}
