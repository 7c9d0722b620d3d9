import { runAt, type Place } from '../namespaces.ts'
import { switchName, vlanPort } from './names.ts'
import { ownMac, type PhysicalSwitch } from './switch.ts'
import type { Daemon } from './shell-script.ts'

const runDirectory = '/run/openvswitch'
const database = '/etc/openvswitch/conf.db'
const socket = `${runDirectory}/db.sock`

/** What a machine with such a switch does before its daemons start. */
export const switchPreparation: readonly string[] = [
  `mkdir -p ${runDirectory}`,
  `[ -e ${database} ] || ovsdb-tool create ${database} /usr/share/openvswitch/vswitch.ovsschema`,
]

/** What the switch is made of. */
export const switchDaemons: readonly Daemon[] = [
  {
    name: 'ovsdb-server',
    command: ['ovsdb-server', database, `--remote=punix:${socket}`, `--unixctl=${runDirectory}/ovsdb.ctl`],
  },
  {
    name: 'ovs-vswitchd',
    command: ['ovs-vswitchd', `unix:${socket}`, `--unixctl=${runDirectory}/vswitchd.ctl`, '--pidfile'],
  },
]

/**
 * A switch of Open vSwitch, in userspace: every port is a trunk with all VLANs and untagged frames, and the outside host has an access port
 * in each VLAN.
 *
 * Neither a bridge of the kernel that filters VLANs nor 802.1Q links can be counted on.
 */
export function vlanSwitch(vlans: readonly number[]): PhysicalSwitch {
  return {
    async create(outside) {
      const access = vlans.flatMap((vlan) => {
        const port = vlanPort(vlan)
        return [
          ...['--', 'add-port', switchName, port, `tag=${vlan}`],
          ...['--', 'set', 'interface', port, 'type=internal'],
        ]
      })
      await vsctl(outside, [
        ...['add-br', switchName, '--', 'set', 'bridge', switchName, 'datapath_type=netdev'],
        `other_config:hwaddr="${ownMac()}"`,
        ...access,
      ])
      for (const nic of [switchName, ...vlans.map(vlanPort)])
        await runAt(outside, ['ethtool', '-K', nic, 'tx', 'off'])
    },
    async plugIn(outside, port) {
      await runAt(outside, ['ip', 'link', 'set', port, 'up'])
      // One transaction would leave it with the sockets of the NIC that had the name before.
      await vsctl(outside, ['--if-exists', 'del-port', port])
      await vsctl(outside, ['add-port', switchName, port])
    },
    async setForwarding(outside, port, isForwarding) {
      for (const flag of ['receive', 'forward'])
        await runAt(outside, ['ovs-ofctl', 'mod-port', switchName, port, isForwarding ? flag : `no-${flag}`])
    },
  }
}

/** Waits for the daemons if they have only just been started. */
function vsctl(outside: Place, args: readonly string[]): Promise<string> {
  return runAt(outside, ['ovs-vsctl', '--retry', '--timeout=30', `--db=unix:${socket}`, ...args])
}

/**
 * Tells whether a frame with the tag of a VLAN has come in by a port.
 *
 * The switch lists what it has learned as lines of port number, VLAN, MAC and age.
 */
export async function hasSentTagged(outside: Place, port: string, vlan: number): Promise<boolean> {
  const number = (await vsctl(outside, ['get', 'interface', port, 'ofport'])).trim()
  const learned = await runAt(outside, [
    ...['ovs-appctl', `--target=${runDirectory}/vswitchd.ctl`],
    ...['fdb/show', switchName],
  ])
  return learned
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(([from, tag]) => from === number && tag === String(vlan))
}
