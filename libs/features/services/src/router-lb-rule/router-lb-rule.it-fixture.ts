import { nodes, endpointSlices } from '@kube-ovn/kube-api/core'
import { ovnEipResource, routerLbRuleResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import {
  endpointSlice,
  ovnEip,
  routerLbRule,
  subnet,
  vpc,
  type OvnEipFields,
  type RouterLbRuleFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach } from 'vitest'

export const mergePatch = 'application/merge-patch+json'

/** Of the Service that is made of the rule that `create` makes unless it says otherwise. */
export const place = { namespace: 'default', name: 'rlr-rule' }
export const port = { name: 'http', port: 8080, protocol: 'TCP' } as const
/** Its load balancer at the router. */
export const own = 'default/rlr-rule/tcp'
/** What its status says when all is well. */
export const served = 'default/rlr-rule 80/TCP True Served'

/** A cluster with a gateway node, an external subnet, and the Vpc `red` on it, for a suite of RouterLBRules. */
export function routerRuleScene() {
  const cluster = ControlCluster.ofSuite()

  async function createVpc(name: string): Promise<void> {
    await cluster.client.create(vpcResource, vpc({ name, enableExternal: true }))
  }

  beforeEach(async () => {
    await cluster.user.createNodes('n1')
    const labels = { 'ovn.kubernetes.io/external-gw': 'true' }
    const annotations = { 'ovn.kubernetes.io/chassis': 'chassis-n1' }
    await cluster.client.patch(nodes, { name: 'n1' }, mergePatch, { metadata: { labels, annotations } })
    const external = {
      name: 'external',
      cidrBlock: '10.5.204.0/24,fd00:5::/120',
      gateway: '10.5.204.254,fd00:5::fe',
    }
    await cluster.client.create(subnetResource, subnet(external))
    await createVpc('red')
  })

  return {
    cluster,
    createVpc,

    async createEip(fields: OvnEipFields = {}): Promise<void> {
      await cluster.client.create(
        ovnEipResource,
        ovnEip({ externalSubnet: 'external', v4Ip: '10.5.204.50', ...fields }),
      )
    },

    async create(fields: RouterLbRuleFields = {}): Promise<void> {
      await cluster.client.create(routerLbRuleResource, routerLbRule(fields))
    },

    /** As the controllers of Kubernetes make one of a Service. */
    async fill(
      of = 'rlr-rule',
      addresses: readonly string[] = ['10.30.0.2'],
      name = `${of}-1`,
    ): Promise<void> {
      const addressType = addresses[0]?.includes(':') === true ? 'IPv6' : 'IPv4'
      await cluster.client.create(
        endpointSlices,
        endpointSlice({ name, service: of, addressType, endpoints: addresses, ports: [port] }),
      )
    },

    /** Of a rule: what it made, its ports, and its condition. */
    async statusOf(name = 'rule'): Promise<string> {
      const { status } = (await cluster.client.get(routerLbRuleResource, { name })) ?? {}
      const [ready] = status?.conditions ?? []
      return `${status?.service ?? ''} ${status?.ports ?? ''} ${ready?.status} ${ready?.reason} ${ready?.message ?? ''}`.trim()
    },
  }
}

export function vipsOf(control: Controller, name: string): Readonly<Record<string, string>> | undefined {
  return control.named('Load_Balancer', name)?.vips
}

/** Names of the load balancers of a router. */
export function onRouter(control: Controller, vpcName = 'red'): readonly string[] {
  const attached = control.named('Logical_Router', vpcName)?.load_balancer ?? []
  return attached.map((uuid) => control.world.northbound.get('Load_Balancer', uuid)?.name ?? uuid).sort()
}
