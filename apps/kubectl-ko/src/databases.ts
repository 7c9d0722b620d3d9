/** A database of OVN, and where a member of ovn-central has it. */
export interface Database {
  readonly kind: 'nb' | 'sb'
  readonly schema: string
  readonly control: string
  readonly socket: string
}

export const databases = {
  nb: {
    kind: 'nb',
    schema: 'OVN_Northbound',
    control: '/run/ovn/ovnnb_db.ctl',
    socket: 'unix:/run/ovn/ovnnb_db.sock',
  },
  sb: {
    kind: 'sb',
    schema: 'OVN_Southbound',
    control: '/run/ovn/ovnsb_db.ctl',
    socket: 'unix:/run/ovn/ovnsb_db.sock',
  },
} as const satisfies Record<string, Database>
