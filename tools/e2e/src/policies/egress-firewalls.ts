import {
  applyAll,
  ofStack,
  ovnCentral,
  untilPodsReady,
  waitForObjects,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { blocked, during, entered, expectClaims, left, shop, stock } from './claims.ts'
import { expectNoneBegin } from './knocks.ts'
import { expectNoneLost, startPings, untilEdited } from './packets.ts'
import { firstPort, secondPort } from './people.ts'

interface Firewall extends ApiObject {
  readonly status?: { readonly status?: string; readonly messages?: readonly string[] }
}

type Rule = Readonly<Record<string, unknown>>

function firewall(...egress: readonly Rule[]): ApiObject {
  return {
    apiVersion: 'k8s.ovn.org/v1',
    kind: 'EgressFirewall',
    metadata: { name: 'default', namespace: 'shop' },
    spec: { egress },
  } as ApiObject
}

const kubeletPort = 10_250
const applied = 'EgressFirewall Rules applied'
const denied = ['0.0.0.0/0', '::/0'].map((cidrSelector): Rule => ({ type: 'Deny', to: { cidrSelector } }))
const asked = (from: MatrixRuleInput['from'], to: MatrixRuleInput['to'], port: number): MatrixRuleInput => ({
  ...{ from, to, by: ['tcp'], port },
})
const refused = (rule: MatrixRuleInput): MatrixRuleInput => ({ ...rule, ...blocked })
const toOutside = asked(shop, ['outside'], firstPort)

/** Where pods may go outside of the cluster by EgressFirewalls. */
export function egressFirewalls(lab: () => Cluster): void {
  const expectSeen = (what: string, rules: readonly MatrixRuleInput[]) => expectClaims(lab(), what, rules)
  const outside = () => ofStack(lab().topology.stack, lab().outside.addresses)
  const untilTold = (status: string) =>
    waitForObjects<Firewall, Firewall>(
      lab().api,
      '/apis/k8s.ovn.org/v1/namespaces/shop/egressfirewalls',
      `the firewall says: ${status}`,
      ([found]) => (found?.status?.status === status ? found : undefined),
    )

  it('are denied to the outside and to nodes, and to nobody inside, nor are answers', async () => {
    await expectSeen('without a firewall they pass', [toOutside])
    await during(lab(), [firewall(...denied)], async () => {
      await expectSeen('nobody goes out', [
        refused(toOutside),
        refused(asked(shop, ['nodes'], firstPort)),
        asked(stock, ['outside'], firstPort),
        ...[left, entered],
        { from: shop, to: [{ namespace: 'kube-system', service: 'kube-dns' }], by: ['dns'] },
        asked(['nodes'], shop, firstPort),
      ])
      await untilTold(applied)
    })
    await expectSeen('without it they pass again', [toOutside])
  })

  it('are decided by the first rule that is about their destination and port', async () => {
    const addresses = outside()
    const allowed = addresses.map((address): Rule => {
      const to = { cidrSelector: `${address}/${address.includes(':') ? 128 : 32}` }
      return { type: 'Allow', to, ports: [{ protocol: 'TCP', port: firstPort }] }
    })
    const nodes = {
      type: 'Allow',
      to: { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'node-1' } } },
    }
    await during(lab(), [firewall(...allowed, nodes, ...denied)], async () => {
      await expectSeen('what is allowed passes', [toOutside, refused(asked(shop, ['outside'], secondPort))])
      await expectClaims(
        lab(),
        'one of the nodes is reached',
        [asked(shop, ['nodes'], firstPort)],
        ({ to, seen }) => (seen === 'reached') === (to === 'node-1'),
      )
      await applyAll(lab().api, [firewall(...denied, ...allowed, nodes)])
      await expectSeen('behind the denial nothing does', [refused(toOutside)])
    })
  })

  it('end with the denial of what they are for, those of connections as well', async () => {
    const pods = await untilPodsReady(lab().api, 'shop', 'app=web', 3)
    const central = await ovnCentral(lab())
    const pings = await startPings(lab(), pods, outside())
    await during(lab(), [firewall()], async () => {
      await untilTold(applied)
      await untilEdited(central, 'egress_firewall.shop', () => applyAll(lab().api, [firewall(...denied)]))
      await expectSeen('nobody goes out', [refused(toOutside)])
      const losses = await Promise.all(pings.map((ping) => ping.stop()))
      for (const { sent, lost } of losses)
        expect(lost).toEqual(
          Array.from({ length: lost.length }, (_, index) => sent - lost.length + 1 + index),
        )
      expect(Math.min(...losses.map(({ lost }) => lost.length))).toBeGreaterThan(1)
    })
  })

  it('of connections that it denies begin none within a second', async () => {
    const pods = await untilPodsReady(lab().api, 'shop', 'app=web', 3)
    const nodes = { to: { nodeSelector: {} } }
    const [node] = lab().nodes
    if (node === undefined) return expect.unreachable()
    await expectNoneBegin(lab(), {
      open: firewall({ type: 'Allow', ...nodes }, ...denied),
      closed: firewall({ type: 'Deny', ...nodes }, ...denied),
      ...{
        group: 'egress_firewall.shop',
        from: pods,
        addresses: ofStack(lab().topology.stack, node.kubernetes),
      },
      // Somebody is there, for any who ask.
      port: kubeletPort,
      claims: [refused(asked(shop, ['nodes'], firstPort)), left],
    })
  })

  it('that stay allowed pass while a firewall is edited, all of them', async () => {
    const pods = await untilPodsReady(lab().api, 'shop', 'app=web', 3)
    const central = await ovnCentral(lab())
    const addresses = outside()
    const allowed = addresses.map((address): Rule => ({
      ...{ type: 'Allow', to: { cidrSelector: `${address}/${address.includes(':') ? 128 : 32}` } },
    }))
    const nodes = { type: 'Allow', to: { nodeSelector: {} } }
    const elsewhere = { type: 'Deny', to: { cidrSelector: '198.51.100.0/24' } }
    const versions = [
      firewall(...allowed, nodes, ...denied),
      firewall(elsewhere, ...allowed, ...denied),
      firewall(...denied.map((rule) => ({ ...rule, type: 'Allow' }))),
      firewall(...allowed.toReversed(), ...denied),
      firewall(elsewhere),
      firewall(...allowed, ...denied),
    ]
    await during(lab(), [firewall(...allowed, ...denied)], async () => {
      await expectSeen('what is allowed passes', [toOutside, refused(asked(shop, ['nodes'], firstPort))])
      const pings = await startPings(lab(), pods, addresses)
      for (const version of versions)
        await untilEdited(central, 'egress_firewall.shop', () => applyAll(lab().api, [version]))
      await expectNoneLost(pings, versions.length)
    })
  })

  it('are allowed only what NetworkPolicies allow as well', async () => {
    const spec = { podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [{ namespaceSelector: {} }] }] }
    const metadata = { name: 'inside', namespace: 'shop' }
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec } as ApiObject
    const open = firewall(...denied.map((rule) => ({ ...rule, type: 'Allow' })))
    await during(lab(), [policy, open], () => expectSeen('the policy denies it', [refused(toOutside), left]))
  })

  it('are denied where a rule can not be read, of which the firewall tells', async () => {
    const long = { type: 'Allow', to: { cidrSelector: '192.0.2.0/40' } }
    await during(lab(), [firewall(long, ...denied)], async () => {
      await expectSeen('nobody goes out', [refused(toOutside), left])
      const { status } = await untilTold('EgressFirewall Rules not correctly applied')
      expect(status?.messages?.join()).toContain('spec.egress[0].to.cidrSelector')
    })
  })
}
