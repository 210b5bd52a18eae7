# SPDX-License-Identifier: GPL-2.0-or-later
# Every source, by layer. One line each: additions merge cleanly.

# The half that reports. It links with zstd, libseccomp and libcap-ng alone: `make report-half`, tests/tools/report_half.sh.
REPORT_SRCS := \
	src/base/call_before.c \
	src/base/extents.c \
	src/base/fail.c \
	src/base/file_limit.c \
	src/base/hash_index.c \
	src/base/helper_process.c \
	src/base/intern.c \
	src/base/io.c \
	src/base/memory.c \
	src/base/memory_limit.c \
	src/base/nearest.c \
	src/base/opt.c \
	src/base/patience.c \
	src/base/opt_help.c \
	src/base/opt_values.c \
	src/base/terminal.c \
	src/base/stop_signals.c \
	src/base/task_state.c \
	src/base/timed_reader.c \
	src/base/worker.c \
	src/rights/call_filter.c \
	src/rights/capabilities.c \
	src/rights/landlock.c \
	src/rights/recording_rights.c \
	src/rights/sandbox.c \
	src/output/output_file.c \
	src/output/output_files.c \
	src/output/output_guard.c \
	src/output/output_place.c \
	src/model/binary.c \
	src/model/definition_store.c \
	src/model/per_process.c \
	src/model/process.c \
	src/model/record.c \
	src/model/stacks.c \
	src/model/syscall_names.c \
	formats/trace/chunk_decoder.c \
	formats/trace/chunk_encoder.c \
	formats/trace/chunk_finder.c \
	formats/trace/crc32c.c \
	formats/trace/id_checker.c \
	formats/trace/record_codec.c \
	formats/trace/record_fields.c \
	formats/trace/sample_columns.c \
	formats/trace/sample_order.c \
	formats/trace/scan_rows.c \
	formats/trace/trace_layout.c \
	formats/trace/trace_output.c \
	formats/trace/trace_reader.c \
	formats/trace/trace_source.c \
	formats/trace/trace_writer.c \
	src/profile/cpu_check.c \
	src/profile/fold.c \
	src/profile/live_profile.c \
	src/profile/live_scans.c \
	src/profile/no_match.c \
	src/profile/profile.c \
	src/profile/query.c \
	src/profile/report.c \
	src/profile/report_pass.c \
	src/profile/report_subject.c \
	src/profile/report_text.c \
	src/profile/sample_counts.c \
	src/profile/stack_cause.c \
	src/profile/stack_health.c \
	src/profile/stack_note.c \
	src/profile/stack_tally.c \
	src/profile/trace_events.c \
	src/profile/trace_summary.c \
	src/profile/tree_builder.c \
	src/profile/wait_graph.c \
	src/profile/wait_place.c \
	src/profile/wall_clock.c \
	src/profile/weight_text.c \
	formats/render/collapse.c \
	formats/render/columns.c \
	formats/render/csv.c \
	formats/render/escape.c \
	formats/render/function_list.c \
	formats/render/json.c \
	formats/render/json_writer.c \
	formats/render/layout.c \
	formats/render/output_limit.c \
	formats/render/output_list.c \
	formats/render/renderers.c \
	formats/render/scan_sums_json.c \
	formats/render/svg.c \
	formats/render/svg_text.c \
	formats/render/text.c \
	formats/render/text_cache.c \
	formats/render/wait_list.c \
	formats/render/wait_text.c \
	formats/render/waits.c \
	formats/render/waits_json.c \

# The half that records, and the code that reads ELF files.
CAPTURE_SRCS := \
	src/elf/debug_name.c \
	src/elf/elf_image.c \
	src/elf/fde_ranges.c \
	src/elf/go_image.c \
	src/proc/cpu_time.c \
	src/proc/cpus.c \
	src/proc/file_locks.c \
	src/proc/pid_namespace.c \
	src/proc/procfs.c \
	src/helpers/helper.c \
	src/helpers/helper_message.c \
	src/foreign/file_opener.c \
	src/foreign/foreign_file.c \
	src/foreign/sealed_file.c \
	src/foreign/wait_budget.c \
	src/symbolize/code_parts.c \
	src/symbolize/demangle.c \
	src/symbolize/elf_symbols.c \
	src/symbolize/go_symbols.c \
	src/symbolize/kernel_hidden.c \
	src/symbolize/kernel_regions.c \
	src/symbolize/kernel_symbols.c \
	src/symbolize/perf_map.c \
	src/symbolize/plt_symbols.c \
	src/symbolize/symbol_batch.c \
	src/symbolize/symbol_set.c \
	src/symbolize/symbolizer.c \
	unwind/cfi.c \
	unwind/cfi_callsite.c \
	unwind/cfi_code.c \
	unwind/cfi_entries.c \
	unwind/cfi_eh_return.c \
	unwind/cfi_merge.c \
	unwind/cfi_pointer.c \
	unwind/cfi_program.c \
	unwind/cfi_rule.c \
	unwind/code_flow.c \
	unwind/code_realign.c \
	unwind/code_rows.c \
	unwind/code_starts.c \
	unwind/code_state.c \
	unwind/code_switch.c \
	unwind/code_trial.c \
	unwind/entered.c \
	unwind/go_rules.c \
	unwind/go_runtime.c \
	unwind/go_table.c \
	unwind/host_unwind.c \
	unwind/unwind_table.c \
	unwind/x86_insn.c \
	src/elf_unwind/code_symbols.c \
	src/elf_unwind/elf_code_rows.c \
	src/elf_unwind/elf_cfi.c \
	src/elf_unwind/elf_unwind_part.c \
	src/elf_unwind/elf_unwind_table.c \
	src/parse/parse_answers.c \
	src/parse/parse_service.c \
	src/parse/parsers.c \
	src/capture/bpf/capture_bpf.c \
	src/capture/bpf/load_errors.c \
	src/capture/bpf/map_sizes.c \
	src/capture/bpf/slab_publisher.c \
	src/capture/bpf/wait_calls.c \
	src/capture/tables/unwind_loader.c \
	src/capture/tables/unwind_rules.c \
	src/capture/tables/unwind_slabs.c \
	src/capture/tables/unwind_slices.c \
	src/capture/processes/binary_store.c \
	src/capture/processes/hidden_tasks.c \
	src/capture/processes/jit_names.c \
	src/capture/processes/process_tracker.c \
	src/capture/processes/remote_fs_files.c \
	src/capture/processes/table_store.c \
	src/capture/processes/task_events.c \
	src/capture/waits/peer_samples.c \
	src/capture/waits/wait_facts.c \
	src/capture/waits/wait_peers.c \
	src/capture/stacks/deferred_stacks.c \
	src/capture/stacks/deferred_unwind.c \
	src/capture/stacks/memory_reader.c \
	src/capture/stacks/stack_blocks.c \
	src/capture/stacks/stack_mirrors.c \
	src/capture/stacks/wire_decode.c \
	src/capture/session/definitions.c \
	src/capture/session/kernel_trim.c \
	src/capture/session/last_samples.c \
	src/capture/session/session.c \
	src/capture/session/session_meta.c \
	src/capture/session/stack_definer.c \
	src/capture/losses.c \
	src/capture/low_latency.c \
	src/capture/recorder.c \
	src/capture/recorder_open.c \
	src/capture/collectors/collectors.c \
	src/capture/collectors/cpu_events.c \
	src/capture/collectors/event_table.c \
	src/capture/collectors/perf_sampler.c \
	src/capture/collectors/running_threads.c \
	src/capture/collectors/sampling.c \
	src/capture/collectors/scans.c \
	src/capture/collectors/task_reader.c \
	src/capture/collectors/left_readers.c \
	src/capture/collectors/task_snapshot.c \
	src/inspect/code_gaps.c \
	src/inspect/find_binary.c \
	src/inspect/mapped_binaries.c \
	src/inspect/rule_text.c \
	src/inspect/unwind_facts.c \
	src/inspect/unwind_rows.c \
	src/verify/libdw_process.c \
	src/verify/past_files.c \
	src/verify/past_maps.c \
	src/verify/verify.c \

LIB_SRCS := $(REPORT_SRCS) $(CAPTURE_SRCS)

# The program, by half: the sources that each needs beside its library, and the list of its commands (src/commands/command.h).
REPORT_MAIN_SRCS := \
	src/main.c \
	src/base/memory_wrap.c \
	src/commands/cmd_info.c \
	src/commands/cmd_report.c \
	src/commands/commands.c \
	src/commands/info_health.c \
	src/commands/info_json.c \
	src/commands/info_lists.c \
	src/commands/pager.c \
	src/commands/report_commands.c \
	src/commands/report_follow.c \
	src/commands/shut_in.c \

CAPTURE_MAIN_SRCS := \
	src/commands/cmd_complete.c \
	src/commands/cmd_doctor.c \
	src/commands/cmd_record.c \
	src/commands/cmd_unwind_info.c \
	src/commands/cmd_verify.c \
	src/commands/doctor_bpf.c \
	src/commands/doctor_system.c \
	src/commands/program.c \
	src/commands/unwind_info_json.c \
	src/commands/unwind_info_text.c \
	src/recording/capture_loop.c \
	src/recording/live_line.c \
	src/recording/live_outputs.c \
	src/recording/live_rows.c \
	src/recording/record_tee.c \
	src/recording/record_options.c \
	src/recording/recording.c \
	src/recording/target_command.c \
	src/recording/trace_file.c \

MAIN_SRCS := $(REPORT_MAIN_SRCS) $(CAPTURE_MAIN_SRCS)

# Takes the place of program.c in a program of the report half alone.
REPORT_PROGRAM_SRCS := \
	src/commands/report_program.c \

ASSETS := \
	formats/render/assets/flame.css \
	formats/render/assets/flame.js \

# Files that include the BPF skeleton.
SKEL_USERS := \
	src/capture/bpf/capture_bpf.c \

