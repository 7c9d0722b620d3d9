import type { Northbound } from './northbound.ts'

/** Stages whose flows are made of ACLs. */
const stages = ['ls_in_acl_eval', 'ls_out_acl_eval', 'ls_in_acl_after_lb_eval'] as const

const directory = '/run/openvswitch'
const socket = `unix:${directory}/db.sock`

/** What northd adds to the priorities of ACLs. */
const priorityOffset = 1000

/** OpenFlow rules of ACLs, with what stands beside them in their tables. */
interface AclRules {
  readonly all: number
  /** Of ACLs with a priority. */
  ofPriority(priority: number): number
}

/**
 * How many OpenFlow rules ovn-controller makes of ACLs on the chassis of a node that has these ports: rules of the tables in which it
 * evaluates them. The chassis is gone afterwards.
 */
export async function countAclFlows(
  northbound: Northbound,
  node: string,
  ports: readonly string[],
): Promise<AclRules> {
  await northbound.script(startScript(northbound.southbound?.socket ?? '', node, ports))
  try {
    // Ports are bound once ovn-northd has seen the chassis that they ask for; rules follow.
    await northbound.sbctl(
      '--timeout=900',
      ...ports.flatMap((port) => ['--', 'wait-until', 'Port_Binding', port, 'chassis!=[]']),
    )
    await northbound.nbctl('--timeout=900', '--wait=hv', 'sync')
    const flows = (await northbound.script('ovs-ofctl dump-flows br-int')).split('\n').map(parseFlow)
    const tables = new Set<string>()
    for (const stage of stages) {
      const uuids = await uuidsOf(northbound, 'Logical_Flow', `external_ids:stage-name=${stage}`)
      tables.add(tableOf(flows, new Set(uuids.map(cookieOf))))
    }
    // All of a table: a rule that several ACLs share has no cookie of one.
    const ofAcls = flows.filter(({ table }) => tables.has(table))
    return {
      all: ofAcls.length,
      ofPriority: (priority) => ofAcls.filter((flow) => flow.priority === priority + priorityOffset).length,
    }
  } finally {
    await northbound.script(endScript)
  }
}

function startScript(southbound: string, node: string, ports: readonly string[]): string {
  const added = ports.map(
    (port, index) =>
      `-- add-port br-int p${index} -- set Interface p${index} type=dummy external_ids:iface-id='${port}'`,
  )
  return `ovsdb-tool create ${directory}/conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server --detach --no-chdir --pidfile=${directory}/ovsdb-server.pid --unixctl=${directory}/ovsdb-server.ctl \\
  --remote=p${socket} ${directory}/conf.db
ovs-vsctl --no-wait init
ovs-vsctl --no-wait set Open_vSwitch . external_ids:system-id=bench external_ids:hostname=${node} external_ids:ovn-remote=${southbound} \\
  external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip=127.0.0.1 external_ids:ovn-bridge-datapath-type=dummy
ovs-vswitchd ${socket} --disable-system --enable-dummy --pidfile=${directory}/ovs-vswitchd.pid \\
  --unixctl=${directory}/ovs-vswitchd.ctl --detach --no-chdir --log-file=/var/log/ovn/ovs-vswitchd.log 2>/dev/null
ovs-vsctl add-br br-int -- set Bridge br-int datapath_type=dummy fail_mode=secure ${added.join(' ')}
ovn-controller ${socket} --detach --no-chdir --pidfile=/run/ovn/ovn-controller.pid --unixctl=/run/ovn/ovn-controller.ctl \\
  --log-file=/var/log/ovn/ovn-controller.log 2>/dev/null
`
}

const endScript = `ovn-appctl -t /run/ovn/ovn-controller.ctl exit
ovs-appctl -t ${directory}/ovs-vswitchd.ctl exit
ovs-appctl -t ${directory}/ovsdb-server.ctl exit
`

async function uuidsOf(northbound: Northbound, table: string, condition: string): Promise<readonly string[]> {
  const found = await northbound.sbctl(
    ...['--timeout=300', '--bare', '--columns=_uuid', 'find', table, condition],
  )
  return found.split('\n').filter((line) => line !== '')
}

/** The cookie of the rules of a logical flow is how its uuid begins (ovn-architecture(7)). */
function cookieOf(uuid: string): string {
  return `0x${uuid.slice(0, 8).replace(/^0+/, '')}`
}

interface OpenFlowRule {
  readonly cookie: string
  readonly table: string
  readonly priority: number
}

/** Where most of these are: of so many rules, some elsewhere have the same half of a uuid. */
function tableOf(flows: readonly OpenFlowRule[], cookies: ReadonlySet<string>): string {
  const counts = new Map<string, number>()
  for (const { cookie, table } of flows)
    if (cookies.has(cookie)) counts.set(table, (counts.get(table) ?? 0) + 1)
  const [most] = [...counts].sort(([, one], [, other]) => other - one)
  if (most === undefined) throw new Error('ovn-controller has made no rules of ACLs')
  return most[0]
}

function parseFlow(line: string): OpenFlowRule {
  const [, cookie = '', table = ''] = /cookie=(0x[0-9a-f]+),.* table=(\d+),/.exec(line) ?? []
  return { cookie, table, priority: Number(/ priority=(\d+)/.exec(line)?.[1] ?? Number.NaN) }
}
