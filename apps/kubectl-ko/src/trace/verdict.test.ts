import { expect, it } from 'vitest'
import { readVerdict, verdictText } from './verdict.ts'

const start = 'ingress(dp="shop", inport="web.shop")\n'
const toRouter = `${start}29. ls_in_l2_lkup (northd.c:9640): eth.dst == 62:36:aa:1e:3a:31, priority 50, uuid 11111111
    output;
    /* output to "shop-ovn-cluster", type "patch" */
`

it('tells where a packet leaves, not by which routers it goes', () => {
  const verdict = readVerdict(`${toRouter}    /* output to "db.stock", type "" */\n`)
  expect(verdict).toEqual({ outcome: 'delivered', ports: ['db.stock'], flows: ['11111111'] })
  expect(verdictText(verdict, undefined)).toBe('delivered to db.stock')
})

it('tells a packet that comes back as an answer', () => {
  const verdict = readVerdict(`${toRouter}    /* output to "web.shop", type "" */\n`)
  expect(verdictText(verdict, undefined)).toBe('answered on behalf of the target, to web.shop')
})

it('tells where a packet is dropped, and by which flows it came there', () => {
  const verdict = readVerdict(`${toRouter}
 6. ls_out_acl_eval (northd.c:7072): reg8[30..31] == 2 && (outport == @till.guarded && ip), priority 3000, uuid 14238534
    reg8[17] = 1;
    next;
 8. ls_out_acl_action (northd.c:7243): reg8[17] == 1, priority 1000, uuid f2d8124c
    reg8[16] = 0;
`)
  expect(verdict).toEqual({
    outcome: 'dropped',
    ports: [],
    stage: 'ls_out_acl_action',
    flows: ['11111111', '14238534', 'f2d8124c'],
  })
  expect(verdictText(verdict, 'an ACL of network-policy/guarded/till')).toBe(
    'dropped in ls_out_acl_action by an ACL of network-policy/guarded/till',
  )
})

it('tells where no flow matches', () => {
  const verdict = readVerdict(`${start} 0. ls_in_check_port_sec (northd.c:8691): 1, priority 50, uuid 22222222
    next;
 5. lr_in_ip_routing: no match (implicit drop)
`)
  expect(verdictText(verdict, undefined)).toBe(
    'dropped in lr_in_ip_routing: the router has no route to the target',
  )
  expect(verdictText(verdict, 'a route of vpc/red')).toBe('dropped in lr_in_ip_routing by a route of vpc/red')
})

it('tells what goes to the physical network from what reaches a pod', () => {
  const out = readVerdict(`${start}    /* output to "localnet.shop", type "localnet" */\n`)
  expect(out).toEqual({ outcome: 'leaves', ports: ['localnet.shop'], flows: [], hop: {} })
  const both = readVerdict(
    `${start}    /* output to "localnet.shop", type "localnet" */\n    /* output to "db.shop", type "" */\n`,
  )
  expect(both.outcome).toBe('delivered')
})

it.each([
  { to: 'reg0 = 172.20.0.11;', hop: { nextHop: '172.20.0.11' } },
  { to: 'xxreg0 = fd00:20::11;', hop: { nextHop: 'fd00:20::11' } },
  // The router is in the network of the target.
  { to: 'reg0 = ip4.dst;', hop: {} },
])('tells what the router did to a packet that goes to the physical network: $to', ({ to, hop }) => {
  const { outcome, hop: found } = readVerdict(`${toRouter}
16. lr_in_ip_routing_ecmp (northd.c:11721): reg8[0..15] == 1 && reg8[16..31] == 1, priority 100, uuid fa3755a5
    ${to}
    reg5 = 172.20.0.200;
    eth.src = 00:00:00:00:02:01;
    outport = "vpc-sea";
21. lr_in_arp_resolve (northd.c:14069): reg9[9] == 1, priority 1, uuid f0cddbc7
    reg0 = 192.0.2.9;
25. lr_in_arp_request (northd.c:14929): 1, priority 0, uuid c55a8412
    output;
    /* Replacing type "chassisredirect" outport "cr-vpc-sea" with distributed port "vpc-sea". */

egress(dp="vpc", inport="vpc-pods", outport="vpc-sea")
 3. lr_out_snat (northd.c:16235): ip && ip4.src == 10.1.0.0/24 && outport == "vpc-sea", priority 153, uuid 1acce7aa
    ct_snat(172.20.0.201);

ct_snat(ip4.src=172.20.0.201)
-----------------------------
    /* output to "localnet.sea", type "localnet" */
`)
  expect({ outcome, hop: found }).toEqual({
    outcome: 'leaves',
    hop: { ...hop, hosted: 'cr-vpc-sea', source: '172.20.0.201' },
  })
})

it.each(['ct_lb_mark(backends=10.16.0.7:80);', 'ct_lb(backends=10.16.0.7:80);', 'ct_dnat(10.16.0.7);'])(
  'tells that it has another target by now: %s',
  (action) => {
    const verdict = readVerdict(`${toRouter}    ${action}\n    /* output to "node-n1", type "" */\n`)
    expect(verdict).toMatchObject({ outcome: 'delivered', isTranslated: true })
    const looked = readVerdict(`${toRouter}    ct_lb_mark;\n    /* output to "node-n1", type "" */\n`)
    expect(looked).not.toHaveProperty('isTranslated')
  },
)

it('tells a packet whose next hop nobody knows from one that arrives', () => {
  const verdict = readVerdict(`${toRouter}
25. lr_in_arp_request (northd.c:14906): eth.dst == 00:00:00:00:00:00 && reg9[9] == 1, priority 100, uuid 49978ad6
    arp { eth.dst = ff:ff:ff:ff:ff:ff; arp.spa = reg5; arp.tpa = reg0; arp.op = 1; output; };

    arp
    ---
        eth.dst = ff:ff:ff:ff:ff:ff;
                    /* output to "db-0.stock", type "" */
                    /* output to "db-1.stock", type "" */
`)
  expect(verdictText(verdict, undefined)).toBe(
    'not known who has the next address: the router asks db-0.stock, db-1.stock, and drops the packet until it is answered',
  )
})

it('takes the question of a router that only the sender hears for none of its answers', () => {
  const verdict = readVerdict(`${toRouter}
25. lr_in_arp_request (northd.c:14906): eth.dst == 00:00:00:00:00:00 && reg9[9] == 1, priority 100, uuid 49978ad6
    arp { eth.dst = ff:ff:ff:ff:ff:ff; arp.spa = reg5; arp.tpa = reg0; arp.op = 1; output; };

    arp
    ---
                    /* output to "web.shop", type "" */
`)
  expect(verdict).toMatchObject({ outcome: 'unresolved', ports: ['web.shop'] })
})

it('tells of the packet by which a Service learns who its client is', () => {
  const verdict = readVerdict(`${toRouter}
14. ls_in_lb_aff_learn (northd.c:8088): reg9[6] == 0 && ct.new && ip4, priority 100, uuid 0b3b9f34
    commit_lb_aff(vip = "10.107.171.31:80", backend = "10.16.0.14:8080", proto = tcp, timeout = 600);
`)
  expect(verdict.outcome).toBe('dropped')
  expect(verdictText(verdict, undefined)).toContain('arrives when it is sent again')
})

it('tells that no node hosts the port of the router by which a packet would leave', () => {
  const verdict = { outcome: 'dropped', ports: ['localnet.sea'], flows: [], hop: { hosted: 'cr-a' } } as const
  expect(verdictText(verdict, undefined)).toBe(
    'dropped: no node hosts the port of the router that it leaves by, cr-a',
  )
})
