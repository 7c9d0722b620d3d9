import { podAnnotations } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  providerNetwork,
  service,
  subnet,
  vlan,
  type ServiceFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ northd: true })
const ports = [
  { name: 'tcp', port: 80, protocol: 'TCP' },
  { name: 'udp', port: 53, protocol: 'UDP' },
  { name: 'sctp', port: 81, protocol: 'SCTP' },
] as const
const frontends = ['10.96.100.1', 'fd00:10:96::1001'] as const

beforeEach(() => cluster.user.createNodes('n1'))

type Role = 'client' | 'backend'

/** A client and a backend, on the switch of the default subnet or where it says; the backend is all that there is behind the Service. */
async function serve(
  control: Controller,
  fields: ServiceFields = {},
  subnets: Readonly<Partial<Record<Role, string>>> = {},
): Promise<void> {
  for (const name of ['client', 'backend'] as const) {
    const annotations = { [podAnnotations().logicalSwitch.key]: subnets[name] ?? 'ovn-default' }
    await cluster.user.createPod({ name, node: 'n1', annotations })
  }
  await control.settle()
  await cluster.client.create(
    services,
    service({
      ...{ clusterIP: frontends[0], clusterIPs: [...frontends], ipFamilyPolicy: 'RequireDualStack' },
      ports: [...ports],
      ...fields,
    }),
  )
  const backend = (await cluster.user.addressOf('backend')).split(',')
  for (const [index, addressType] of (['IPv4', 'IPv6'] as const).entries()) {
    const slicePorts = ports.map(({ name, protocol }) => ({ name, port: 8080, protocol }))
    const endpoints = [backend[index] ?? '']
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ name: `web-${index}`, addressType, endpoints, ports: slicePorts }),
    )
  }
  await control.settle()
  await cluster.northbound.nbctl('--wait=sb', 'sync')
}

/** What OVN does with the first packet that the client sends to an address. */
async function trace(
  control: Controller,
  address: string,
  to: string,
  { on = 'ovn-default', gateway = control.named('Logical_Router_Port', `ovn-cluster-${on}`)?.mac } = {},
): Promise<string> {
  const family = address.includes(':') ? 6 : 4
  const own = (await cluster.user.addressOf('client')).split(',')[family === 4 ? 0 : 1]
  const port = control.named('Logical_Switch_Port', 'client.default')
  const [mac = ''] = port?.addresses[0]?.split(' ') ?? []
  const [protocol, number] = to.split(' ')
  const flow = [
    `inport == "client.default" && eth.src == ${mac} && eth.dst == ${gateway} && ip.ttl == 64`,
    `ip${family}.src == ${own} && ip${family}.dst == ${address}`,
    `${protocol}.src == 40000 && ${protocol}.dst == ${number}`,
  ].join(' && ')
  const { southbound } = cluster.northbound
  const states = '--ct=new '.repeat(6)
  return cluster.northbound.script(
    `ovn-trace --db=${southbound?.socket} ${states} --summary ${on} '${flow}' 2>&1`,
  )
}

const reachesBackend = /output to "backend\.default"/

describe('the first packet of a connection, as ovn-northd has it led', () => {
  it.each([{ loadBalancerLayout: 'shared' }, { loadBalancerLayout: 'per-service' }])(
    'comes to a backend by each protocol and family, whatever kube-proxy there is: $loadBalancerLayout',
    async (flags) => {
      await using control = await cluster.startController({ flags })
      await control.settle()
      await serve(control)
      for (const address of frontends)
        for (const { protocol, port } of ports) {
          const led = await trace(control, address, `${protocol.toLowerCase()} ${port}`)
          expect(led).toMatch(reachesBackend)
          expect(led).toContain(address.includes(':') ? `backends=[` : 'backends=10.16.0.')
        }
      expect(await trace(control, frontends[0], 'tcp 82')).not.toMatch(reachesBackend)
    },
  )

  it('ends where OVN learns who the client is, with affinity: the second one has its backend', async () => {
    await using control = await cluster.startSettled()
    await serve(control, {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    })
    const led = await trace(control, frontends[0], 'tcp 80')
    expect(led).toMatch(/commit_lb_aff\(vip = "10\.96\.100\.1:80".*timeout = 60\)/)
    expect(led).not.toMatch(reachesBackend)
    const actions = await cluster.northbound.sbctl('--bare', '--columns=actions', 'list', 'Logical_Flow')
    const learning = actions.split('\n').filter((action) => action.includes('commit_lb_aff'))
    // Each protocol of each family.
    expect(learning).toHaveLength(6)
    expect(learning.filter((action) => !action.endsWith('; /* drop */'))).toEqual([])
  })

  it('goes by the router to a backend on its own switch, whatever ls_dnat_mod_dl_dst says', async () => {
    const flows = async (): Promise<readonly string[]> => {
      const columns = '--columns=logical_datapath,pipeline,table_id,priority,match,actions'
      const options = ['--format=csv', '--no-headings', columns]
      const listed = await cluster.northbound.sbctl(...options, 'list', 'Logical_Flow')
      return listed.split('\n').sort()
    }
    const seen: (readonly string[])[] = []
    for (const lsDnatModDlDst of [true, false]) {
      await using control = await cluster.startController({ flags: { lsDnatModDlDst } })
      await control.settle()
      if (lsDnatModDlDst) await serve(control)
      await cluster.northbound.nbctl('--wait=sb', 'sync')
      const [row] = control.rows('NB_Global', 'options')
      expect(row?.options['ls_dnat_mod_dl_dst']).toBe(String(lsDnatModDlDst))
      const led = await trace(control, frontends[0], 'tcp 80')
      expect(led).toMatch(/ingress\(dp="ovn-cluster"/)
      expect(led).toMatch(reachesBackend)
      seen.push(await flows())
    }
    expect(seen[1]).toEqual(seen[0])
  })

  it.each(['yard', 'ovn-default'])(
    'goes to the physical gateway from an underlay without a router, under the address of a backend in %s',
    async (backend) => {
      await using control = await cluster.startSettled()
      await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
      await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
      const cidrBlock = '172.19.0.0/24,fd00:172:19::/112'
      await cluster.client.create(subnetResource, subnet({ name: 'yard', cidrBlock, vlan: 'v10' }))
      await control.settle()
      await serve(control, {}, { client: 'yard', backend })
      const backends = (await cluster.user.addressOf('backend')).split(',')
      for (const [index, address] of frontends.entries()) {
        const led = await trace(control, address, 'tcp 80', { on: 'yard', gateway: '00:00:5e:00:53:01' })
        expect(led).toContain(`backends=${index === 0 ? backends[0] : `[${backends[1]}]`}:8080`)
        expect(led).toMatch(/output to "localnet\.yard"/)
        expect(led).not.toMatch(reachesBackend)
        expect(led).not.toContain('dp="ovn-cluster"')
      }
    },
  )
})
