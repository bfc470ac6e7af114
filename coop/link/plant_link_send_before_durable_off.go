//go:build !plant_link_send_before_durable

package link

// plantSendBeforeDurable reports a batch before the journal has it. What is sent
// of our own is the journal's to judge: Missing gives what is synced alone.
const plantSendBeforeDurable = false
