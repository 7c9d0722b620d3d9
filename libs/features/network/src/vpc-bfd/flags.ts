import { wholeNumber } from '@kube-ovn/process'

export const bfdFlags = {
  bfdMinTx: wholeNumber(100, 'Milliseconds between two packets of a BFD session of a VPC, 1 at least.'),
  bfdMinRx: wholeNumber(100, 'Milliseconds between two packets that such a session can take.'),
  detectMult: wholeNumber(3, 'So many packets that do not come end a BFD session, 1 to 255.'),
} as const
