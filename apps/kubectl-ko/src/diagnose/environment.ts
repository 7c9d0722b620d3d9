import { KubeOvnError } from '@kube-ovn/errors'
import { nodes } from '@kube-ovn/kube'
import type { Cluster } from '../cluster.ts'
import { onNode } from '../components.ts'
import { describeError } from '../describe-error.ts'
import { ObjectMissingError } from '../errors.ts'
import { readAll } from '../facts.ts'
import { readRows } from '../rows.ts'
import { eachOf, type Finding } from './finding.ts'

/**
 * Prints, a line each, what of a node may be in the way of its network, as `CHECK<tab>VALUE`. It runs in the agent's container, which
 * sees the processes of the node, and by /proc/1/root its files.
 */
const look = `
root=/proc/1/root
tell() { printf '%s\\t%s\\n' "$1" "$2"; }
for directory in "$@"; do
  [ -d "$root$directory" ] || continue
  for file in "$root$directory"/*; do
    case $file in *-kube-ovn.conflist | *'*') ;; *.conf | *.conflist | *.json) tell cni-configuration "$directory/$(basename "$file")" ;; esac
  done
done
for name in tcp_mtu_probing tcp_tw_recycle ip_forward; do
  if [ -r /proc/sys/net/ipv4/$name ]; then read -r value </proc/sys/net/ipv4/$name && tell "$name" "$value"; fi
done
udp=0
while read -r title a b c d e f errors rest; do case $title-$a in Udp:-InDatagrams) ;; Udp:-*) udp=$errors ;; esac; done </proc/net/snmp
tell udp-checksum-errors "$udp"
if [ -r $root/etc/resolv.conf ]; then
  while read -r word rest; do case $word in search | domain) tell search-domains "$rest" ;; esac; done <$root/etc/resolv.conf
fi
for process in /proc/[0-9]*/comm; do
  read -r name <"$process" 2>/dev/null || continue
  case $name in *firewall* | *security* | *qax* | *safe* | *defence* | *vmsec*) tell process "$name" ;; esac
done
`

interface Rule {
  /** Whether the value is well. */
  readonly isGood: (value: string) => boolean
  readonly cure: string
}

const rules: Readonly<Record<string, Rule>> = {
  'cni-configuration': {
    isGood: () => false,
    cure: 'another network plugin is configured: remove its file if it sorts before that of kube-ovn',
  },
  tcp_mtu_probing: {
    isGood: (value) => value !== '0',
    cure: 'set net.ipv4.tcp_mtu_probing=1, so that connections survive a path with a smaller MTU',
  },
  tcp_tw_recycle: {
    isGood: (value) => value !== '1',
    cure: 'set net.ipv4.tcp_tw_recycle=0: it drops connections that come through NAT',
  },
  ip_forward: { isGood: (value) => value === '1', cure: 'set net.ipv4.ip_forward=1' },
  'udp-checksum-errors': {
    isGood: (value) => value === '0',
    cure: 'UDP packets came with wrong checksums: switch checksum offload of the NIC that carries tunnels off',
  },
  'search-domains': {
    isGood: (value) => !value.split(/\s+/).some((domain) => /(^|\.)com\.?$/.test(domain)),
    cure: 'a search domain under .com makes short names be asked for outside: remove it from /etc/resolv.conf',
  },
  process: {
    isGood: () => false,
    cure: 'software for security may drop tunnel packets: allow UDP 6081 (Geneve), 4789 (VXLAN), or STT',
  },
}

const configurationDirectory = '/etc/cni/net.d'

/**
 * Looks on every node, or one, for what is known to be in the way.
 *
 * @throws ObjectMissingError when there is no node: nothing was looked at then
 */
export async function checkEnvironment(cluster: Cluster, only?: string): Promise<readonly Finding[]> {
  const names =
    only === undefined
      ? (await readAll(cluster, nodes)).map(({ metadata }) => metadata.name).toSorted()
      : [only]
  if (names.length === 0)
    throw new ObjectMissingError('node', '', 'wait until a node is there: kubectl get nodes')
  const found = await eachOf(names, async (where): Promise<readonly Finding[]> => {
    try {
      const agent = await onNode(cluster, where, 'kube-ovn-cni')
      const [told, interfaces] = await Promise.all([
        cluster.tell(agent, ['bash', '-c', look, 'bash', configurationDirectory]),
        interfaceErrors(cluster, where),
      ])
      return [...readLook(where, told), ...interfaces]
    } catch (error) {
      if (!(error instanceof KubeOvnError) || only !== undefined) throw error
      return [{ where, check: 'agent', subject: 'kube-ovn-cni', isGood: false, result: describeError(error) }]
    }
  })
  return found.flat()
}

async function interfaceErrors(cluster: Cluster, where: string): Promise<readonly Finding[]> {
  const ovs = await onNode(cluster, where, 'ovs')
  const rows = await readRows(cluster, ovs, 'ovs', 'Interface', ['name', 'error'], ['error!=[]'])
  return rows.map(({ name, error }) => ({
    where,
    check: 'interface',
    subject: String(name),
    isGood: false,
    result: String(error),
  }))
}

/** Reads what a node tells of itself. */
export function readLook(where: string, text: string): readonly Finding[] {
  return text.split('\n').flatMap((line) => {
    const [check = '', value = ''] = line.split('\t')
    const rule = rules[check]
    if (rule === undefined) return []
    const isGood = rule.isGood(value)
    return [{ where, check, subject: value, isGood, result: isGood ? 'well' : rule.cure }]
  })
}
