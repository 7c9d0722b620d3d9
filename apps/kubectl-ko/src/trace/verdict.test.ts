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
  expect(verdictText(verdict, undefined)).toBe('dropped in lr_in_ip_routing')
})
