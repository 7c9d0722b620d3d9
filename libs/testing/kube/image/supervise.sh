# Runs etcd and a Kubernetes API server in $DIRECTORY, and obeys the test that started the container.
#
# Commands come as lines on stdin, answers go as lines to stdout. When stdin ends, the test is gone and so is this.
# Flags of the API server and of the controller manager are in the files apiserver.flags and controller-manager.flags.
set -u
cd "$DIRECTORY"

address=$(hostname -i | tr ' ' '\n' | grep -v ':' | head -n 1)
exec 3>&1 >>supervise.log 2>&1

make_authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 30 \
    -subj /CN=kube-ovn-test-ca -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
}

# issue NAME SUBJECT USAGE ALTERNATIVE_NAMES
issue() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.crt" -days 30 \
    -CA ca.crt -CAkey ca.key -subj "$2" -addext basicConstraints=critical,CA:FALSE \
    -addext "extendedKeyUsage=$3" -addext "subjectAltName=$4"
}

make_account_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out service-account.key
  openssl ec -in service-account.key -pubout -out service-account.pub
}

make_certificates() {
  make_account_key &
  local account_key=$!
  make_authority
  issue admin "/O=system:masters/CN=admin" clientAuth "DNS:admin" &
  local admin=$!
  issue apiserver "/CN=kube-apiserver" serverAuth "IP:$address,IP:127.0.0.1,IP:::1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc${ADVERTISE_ADDRESS:+,IP:$ADVERTISE_ADDRESS}"
  wait "$account_key" "$admin"
}

# Quick rather than small: much of a start would be spent on collecting garbage.
export GOGC=300

start_etcd() {
  # It is alone, so that it need not wait for long before it elects itself.
  etcd --heartbeat-interval 20 --election-timeout 200 \
    --data-dir /var/lib/etcd-test --unsafe-no-fsync --max-txn-ops 10000 --log-level warn \
    --listen-client-urls "http://0.0.0.0:2379" --advertise-client-urls "http://$address:2379" \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster default=http://127.0.0.1:2380 >>etcd.log 2>&1 &
  etcd=$!
}

stop_etcd() {
  kill -TERM "$etcd"
  wait "$etcd"
}

start_apiserver() {
  mapfile -t flags <apiserver.flags
  /opt/kubernetes/kube-apiserver --advertise-address "${ADVERTISE_ADDRESS:-$address}" "${flags[@]}" >>apiserver.log 2>&1 &
  apiserver=$!
}

start_controller_manager() {
  [ -s controller-manager.flags ] || return 0
  issue controller-manager "/O=system:masters/CN=system:kube-controller-manager" clientAuth "DNS:controller-manager"
  cat >controller-manager.kubeconfig <<END
{"apiVersion": "v1", "kind": "Config", "current-context": "test",
 "clusters": [{"name": "test", "cluster": {"server": "https://127.0.0.1:6443", "certificate-authority": "ca.crt"}}],
 "users": [{"name": "test", "user": {"client-certificate": "controller-manager.crt", "client-key": "controller-manager.key"}}],
 "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}
END
  mapfile -t flags <controller-manager.flags
  # It gives up where the API server is not there within ten seconds, as on a busy machine.
  until /opt/kubernetes/kube-controller-manager "${flags[@]}" >>controller-manager.log 2>&1; do sleep 1; done &
}

start_etcd
make_certificates
start_apiserver
start_controller_manager
echo "$address" >&3

while read -r command; do
  case $command in
    kill)
      kill -KILL "$apiserver"
      wait "$apiserver"
      echo killed >&3
      ;;
    start)
      start_apiserver
      echo started >&3
      ;;
    save)
      stop_etcd
      rm -rf /var/lib/etcd-saved && cp -a /var/lib/etcd-test /var/lib/etcd-saved
      start_etcd
      echo saved >&3
      ;;
    restore)
      stop_etcd
      rm -rf /var/lib/etcd-test/* && cp -a /var/lib/etcd-saved/. /var/lib/etcd-test/
      start_etcd
      echo restored >&3
      ;;
  esac
done
kill -KILL $(jobs -p)
wait
# A test that was killed cannot clean up.
cd / && rm -rf "$DIRECTORY"
