/** Label of a pod by which upstream's leader checker says that it leads. */
export const leaderLabels = {
  nb: 'ovn-nb-leader',
  sb: 'ovn-sb-leader',
  northd: 'ovn-northd-leader',
  icnb: 'ovn-ic-nb-leader',
  icsb: 'ovn-ic-sb-leader',
} as const
