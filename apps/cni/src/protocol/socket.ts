/** Where the agent listens on a node, unless an operator says otherwise. */
export const agentSocket = '/run/openvswitch/kube-ovn-daemon.sock'
