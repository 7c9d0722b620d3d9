/** Well-known routing tables of linux/rtnetlink.h. */
export const routeTable = { default: 253, main: 254, local: 255 } as const

/** Well-known origins of a route: RTPROT_* of linux/rtnetlink.h. */
export const routeProtocol = {
  unspecified: 0,
  redirect: 1,
  kernel: 2,
  boot: 3,
  static: 4,
  ra: 9,
  dhcp: 16,
  bird: 12,
  zebra: 11,
  bgp: 186,
} as const

/** Distance to a destination: RT_SCOPE_* of linux/rtnetlink.h. */
export const routeScope = { universe: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const
